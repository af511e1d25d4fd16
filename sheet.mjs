// usage: node sheet.mjs out.png width height scheme scale columns address...   (address may be "label|address")
import { chromium } from 'playwright-core';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, extname } from 'node:path';
const [out, w, h, scheme, scale, columns, ...addresses] = process.argv.slice(2);
const types={'.css':'text/css','.html':'text/html','.js':'text/javascript','.json':'application/json','.wasm':'application/wasm','.woff2':'font/woff2'};
const root=process.cwd()+'/build/page';
const s=createServer(async(q,r)=>{const p=new URL(q.url,'http://x').pathname;try{const b=await readFile(join(root,p==='/'?'index.html':p));r.writeHead(200,{'content-type':types[extname(p==='/'?'a.html':p)]??'application/octet-stream','cross-origin-opener-policy':'same-origin','cross-origin-embedder-policy':'require-corp'}).end(b);}catch{r.writeHead(404).end();}});
await new Promise(d=>s.listen(0,'127.0.0.1',d));
const b=await chromium.launch({executablePath:'/usr/bin/chromium',args:['--headless','--no-sandbox','--disable-gpu']});
const ctx=await b.newContext({viewport:{width:+w,height:+h},colorScheme:scheme,reducedMotion:'reduce'});
const shots=[];
for(const a of addresses){const page=await ctx.newPage();page.on('console',m=>console.log(a,m.type(),m.text()));page.on('pageerror',e=>console.log(a,'EXC',e.message,e.stack?.slice(0,400)));
await page.goto(`http://127.0.0.1:${s.address().port}/#/${a}`);
await page.waitForTimeout(1800);shots.push((await page.screenshot()).toString('base64'));await page.close();}
const p=await b.newPage({viewport:{width:Math.ceil(w*scale)*columns,height:400}});
await p.setContent(`<body style="margin:0;display:grid;grid-template-columns:repeat(${columns},1fr);gap:4px;background:#f0f">${shots.map(x=>`<img style="width:100%" src="data:image/png;base64,${x}">`).join('')}</body>`);
await p.waitForTimeout(300);await p.screenshot({path:out,fullPage:true});await b.close();s.close();
