// usage: node shot.mjs <out.png> <address> [width] [height] [dark|light] [wait]
import { chromium } from 'playwright-core';
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join, extname } from 'node:path';
const [out, address, w='1440', h='900', scheme='light', wait='2500', full=''] = process.argv.slice(2);
const types={'.css':'text/css','.html':'text/html','.js':'text/javascript','.json':'application/json','.wasm':'application/wasm','.woff2':'font/woff2'};
const root=process.cwd()+'/build/page';
const s=createServer(async(q,r)=>{const p=new URL(q.url,'http://x').pathname;try{const b=await readFile(join(root,p==='/'?'index.html':p));r.writeHead(200,{'content-type':types[extname(p==='/'?'a.html':p)]??'application/octet-stream','cross-origin-opener-policy':'same-origin','cross-origin-embedder-policy':'require-corp'}).end(b);}catch{r.writeHead(404).end();}});
await new Promise(d=>s.listen(0,'127.0.0.1',d));
const b=await chromium.launch({executablePath:'/usr/bin/chromium',args:['--headless','--no-sandbox','--disable-gpu']});
const page=await (await b.newContext({viewport:{width:+w,height:+h},colorScheme:scheme,reducedMotion:'reduce'})).newPage();
page.on('console',m=>console.log(m.type(),m.text()));page.on('pageerror',e=>console.log('EXC',e.message,e.stack?.slice(0,600)));
await page.goto(`http://127.0.0.1:${s.address().port}/#/${address}`);
await page.waitForTimeout(+wait);
await page.screenshot({path:out,fullPage:full==='full'});
await b.close();s.close();
