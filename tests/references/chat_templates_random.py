"""Random chat templates, of the parts that published ones are made of, and what transformers renders with them; and methods, filters
and globals one by one.

    python3 tests/references/chat_templates_random.py --out tests/fixtures
    python3 tests/references/chat_templates_random.py --out <folder> --count 5000 --seed x
"""

import random

from transformers.utils.chat_template_utils import _compile_jinja_template as compiled

from common import Group, arguments

TEXTS = ["user", "assistant", "hello", "  Hi there \n", "a,b, c", "Ünïcode", "it's \"q\"", "", "<think>x</think>\n\ny", "12", "tool", "The Quick brown", "😀 b😀"]
TOOLS = [{"type": "function", "function": {"name": "f", "description": "It's <b>", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}}, "required": ["city"]}}}]
CALL = {"type": "function", "function": {"name": "w", "arguments": {"city": "Łódź", "days": 2, "ok": True, "x": None, "f": 1.5}}}
DICTIONARY = "{'city': 'Łódź', 'days': 2, 'ok': true, 'items': none, 'f': 1.5}"
KEYS = "{0: 'a', 512: [2.0, {}], 1.5: 'b', -1: {'B': 1, 'a': 2}}"  # keys that are no texts
JSON = ["", "(indent=2)", "(ensure_ascii=True)", "(separators=(',', ':'))", "(indent=0)", "(sort_keys=true)", "(indent='--', sort_keys=true)"]
NAMES = ["text0", "text1", "text2", "text3", "number0", "written", "message.role", "loop.index", "b"]
# Methods, filters and globals one by one, with x each of VALUES; what Python refuses is refused.
VALUES = ["'a,b c,a'", "''", "' Ab  cd e '", "'-12'", "'42'", "'x²'", "'Łódź 😀!'", "['b', 'A', 3, 'b']", "[]", "(1, 'a')", "{'a': 1, 'k v': '/?&'}", "{}", "7", "-2.5", "none", "true", "range(5)"]
EACH = [f"x.{call}" for call in [
    "partition(',')", "rpartition(',')", "partition('z')", "rpartition('z')", "rsplit()", "rsplit(none, 1)", "rsplit(',', 1)", "rsplit(maxsplit=0)", "rsplit('z')", "split(',', maxsplit=1)", "index('a')", "rindex('a')",
    "index('b')", "find('a', 1)", "find('a', -1)", "rfind('a', 0, 3)", "count('a', 1)", "count('')", "count('b')", "startswith('b', 2)", "endswith(('a', 'b'), 0, 3)", "isdigit()", "isdecimal()", "isalpha()", "isalnum()",
    "isspace()", "isupper()", "islower()", "swapcase()", "zfill(5)", "ljust(9, '.')", "rjust(9)", "center(8, '*')", "center(9)", "copy()", "index(3)", "count(1)"]] + [f"x | {call}" for call in [
    "batch(2) | list", "batch(3, '-') | list", "slice(2) | list", "slice(3, '-') | list", "attr('a')", "attr('missing') is defined", "center(11)", "center", "wordcount", "urlencode", "truncate(5)", "truncate(4, true, '..', 0)",
    "truncate(7, leeway=0)", "truncate"]] + ["x[1:none]", "x[none::-1]", "x[:true]", "-x % 3", "x ** 2", "x * 2 - 1", "namespace(x).a", "range(*x) | list"]
TURNS = ["{% set c = cycler(1, 'b', none) %}{{ c.current }}{% for x in range(4) %}{{ c.next() }}{{ c.current }}{% endfor %}{{ c.reset() }}{{ c.next() }}",
         "{% set j = joiner() %}{% set k = joiner('|') %}{% for m in messages %}{{ j() }}{{ m.role }}{{ k() }}{% endfor %}"]
DEEPEST = 3  # expressions and blocks


def draw_messages(rng):
    messages = [{"role": "system", "content": rng.choice(TEXTS)}] if rng.random() < 0.4 else []
    for turn in range(rng.randint(1, 4)):
        message = {"role": ("user", "assistant")[turn % 2], "content": rng.choice(TEXTS)}
        kind = rng.random()
        if turn % 2 and kind < 0.3:
            message["tool_calls"] = [CALL]
        elif turn % 2 == 0 and kind < 0.15:
            message["content"] = [{"type": "image"}, {"type": "text", "text": rng.choice(TEXTS)}]
        elif kind < 0.4:
            message["reasoning_content"] = rng.choice(TEXTS)
        messages.append(message)
    return messages


class Template:
    """Draws expressions by type, from the variables in scope, and statements."""

    def __init__(self, rng):
        self.rng, self.texts, self.numbers, self.messages, self.loops, self.macros, self.namespace = rng, ["bos_token"], [], [], 0, 0, False

    def of(self, text, *drawn):
        """The text with each `$` replaced by an operand in parentheses."""
        for each in drawn:
            text = text.replace("$", f"({each})" if any(mark in each for mark in " ~+|") else each, 1)
        return text

    def quoted(self, text):
        text = text.replace("\\", "\\\\").replace("\n", "\\n")
        return "'" + text.replace("'", "\\'") + "'" if self.rng.random() < 0.7 else '"' + text.replace('"', '\\"') + '"'

    def text(self, depth=0):
        rng, below = self.rng, depth + 1
        attributes = [form.format(m) for m in self.messages or ["messages[0]", "messages[-1]"] for form in ("{}.role", "{}['role']", "{}.content | string", "{}['content'] | string")]
        simple = [*[self.quoted(rng.choice(TEXTS)) for _ in range(2)], *attributes, *self.texts]
        if depth >= DEEPEST or rng.random() < 0.25:
            return rng.choice(simple)
        part, one, other, number = self.quoted(rng.choice([" ", "a", "l", ",", "\n", "<think>", "</think>", "<>"])), self.text(below), self.text(below), self.number(below)
        kinds = [
            ("$ + $", one, other), ("$ ~ $", one, rng.choice([other, number, self.truth(below), self.items(below)])), ("$ or $", one, other), ("$ and $", one, other),
            (f"$ | {rng.choice(['trim', 'upper', 'lower', 'capitalize', 'title', 'string', 'first', 'last', 'tojson', 'length', 'indent', 'reverse', 'indent(2, true)'])}", one),
            (f"$.{rng.choice(['strip', 'lstrip', 'rstrip'])}({rng.choice(['', part])})", one),
            (f"$.{rng.choice(['upper', 'lower', 'title', 'capitalize'])}()", one), (f"$.{rng.choice(['removeprefix', 'removesuffix'])}({part})", one),
            (f"((($ | {rng.choice(['e', 'safe'])}) + $) ~ '')", one, other), (f"{KEYS}[$] | default('-') | string", number), ("$ | d('-', true)", one),
            (f"$ | replace({part}, '_')", one), (f"$.replace({part}, '_'{rng.choice(['', ', 1'])})", one), (f"$.split({part})[{rng.choice([0, -1])}]", one),
            (f"$[{rng.choice(['1:', '0:2', ':-1', '::2', '::-1', '-2:', ':3', '1:100'])}]", one), (f"$ | join({part})", self.items(below)),
            (f"{part}.join($)", self.words(below)), ("($ if $ else $)", one, self.truth(below), other), ("missing | default($)", one), ("$ | default($, true)", one, other),
            ("$ * 2", one), (f"$[{rng.choice([0, 1, -1, 9])}] | default('-')", one), ("$[$] | default('-')", self.dictionary(), rng.choice([one, number])),
            (f"$ | join({rng.choice(['d=', '', ''])}{part}{rng.choice(['', ', attribute=' + repr('role')])})", rng.choice(["messages", "messages[:1]"])), (f"$ | trim({part})", one),
            (f"$ | tojson{rng.choice(JSON)}", self.dictionary()),
            ("$ | string", rng.choice([number, self.truth(below), self.items(below), self.dictionary()])), ("$.get('city', $)", self.dictionary(), one),
            (f"'{rng.choice(['%d|%s', '%5.1f|%-5s', '%03d|%.2s'])}' % ($, $)", number, one), ("'a' ~ $ 'b' ~ $", self.quoted(rng.choice(TEXTS)), number)]
        if self.macros and depth == 0:
            kinds.append((f"macro{rng.randrange(self.macros)}($, b=$)", one, other))
        return self.of(*rng.choice(kinds))

    def dictionary(self):
        return self.rng.choice([DICTIONARY, KEYS, "messages[-1]", "tools[0].function.parameters", "{}", *self.messages])

    def words(self, depth):
        return self.of(*self.rng.choice([("[$, $]", self.text(depth + 1), self.text(depth + 1)), (f"$.split({self.rng.choice(['', repr(',')])})", self.text(depth + 1)),
                                         ("messages | map(attribute='role') | list",)]))

    def items(self, depth=0):
        rng, below = self.rng, depth + 1
        simple = ["messages", "messages[1:]", "tools", "[1, 2, 3]", "['b', 'A', 'c']", "messages[::-1]", "range(3) | list"]
        if depth >= DEEPEST or rng.random() < 0.3:
            return rng.choice(simple)
        return self.of(*rng.choice([
            ("$", self.words(below)), ("$ | list", self.items(below)), ("$ | reverse | list", self.items(below)), ("messages | selectattr('role', 'equalto', 'user') | list",),
            ("messages | rejectattr('role', 'in', ['user', 'x']) | list",), ("messages | selectattr('tool_calls', 'defined') | list",), ("['b', 'A', $] | sort", self.text(below)),
            (f"$ | map('{rng.choice(['upper', 'trim', 'length', 'title'])}') | list", self.words(below)), (f"[1, 2, 3] | {rng.choice(['select', 'reject'])}('odd') | list",),
            (f"$ | {rng.choice(['items | list', 'dictsort', 'dictsort(reverse=true)'])}", DICTIONARY), ("$.splitlines()", self.text(below)), (f"$.{rng.choice(['keys', 'values', 'items'])}()", self.dictionary()),
            (f"[1, 2, 3] | select('{rng.choice(['gt', '<=', 'ne'])}', 2) | list",), ("$.keys() | list", self.dictionary()), ("$.values() | list", self.dictionary()), ("$ | list", self.text(below)), ("$ + $", self.items(below), self.items(below)),
            ("$ | unique | list", self.items(below)), ("messages | selectattr('content', 'defined') | list",), ("messages | groupby('role') | map(attribute='list') | list",), ("($, $)", self.text(below), self.number(below)), ("tools | selectattr('function.name', 'equalto', 'f') | list",),
            (f"$ | {rng.choice(['select', 'reject'])}attr('type', 'equalto', 'text') | list", rng.choice(["messages[-1].content", "messages", self.text(below)]))]))

    def number(self, depth=0):
        rng, below = self.rng, depth + 1
        simple = ["0", "1", "2", "7", "-3", "2.5", "messages | length", *self.numbers, *(["loop.index", "loop.index0", "loop.revindex", "loop.length"] if self.loops else [])]
        if depth >= DEEPEST or rng.random() < 0.4:
            return rng.choice(simple)
        return self.of(*rng.choice([
            (f"$ {rng.choice('+-*')} $", self.number(below), self.number(below)), (f"$ % {rng.choice([2, 3])}", self.number(below)), (f"$ // {rng.choice([2, 3])}", self.number(below)),
            ("$ | length", self.text(below)), ("$ | length", self.items(below)), ("$ | int", self.text(below)), (f"$ | int({rng.choice([7, 'default=7'])})", self.text(below)), ("$ | int", self.number(below)), ("$ | abs", self.number(below)),
            (f"$.{rng.choice(['find', 'count'])}('a')", self.text(below)), (f"[$, $] | {rng.choice(['sum', 'min', 'max', 'sum(start=1)'])}", self.number(below), self.number(below)),
            (f"$ | {rng.choice(['round', 'round(1)'])}", self.number(below))]))

    def truth(self, depth=0):
        rng, below = self.rng, depth + 1
        simple = ["true", "false", "add_generation_prompt", "tools", "none", "messages[-1].tool_calls", "messages[0].tool_calls is defined", *(["loop.first", "loop.last"] if self.loops else [])]
        if depth >= DEEPEST or rng.random() < 0.2:
            return rng.choice(simple)
        kind = rng.choice(["defined", "string", "mapping", "iterable", "none", "undefined", "number", "float", "boolean"])
        return self.of(*rng.choice([
            (f"$ {rng.choice(['==', '!=', 'in', 'not in'])} $", self.text(below), self.text(below)), (f"$ {rng.choice(['<', '>', '<=', '==', '!='])} $", self.number(below), self.number(below)),
            (f"$ {rng.choice(['<', '==', '!='])} $ {rng.choice(['<', '>=', '=='])} $", self.number(below), self.number(below), self.number(below)),
            (f"$ is {rng.choice(['', 'not '])}{rng.choice(['divisibleby 2', 'divisibleby(3)', 'eq 1', 'sameas none', 'in [0, 1]'])}", rng.choice(["loop.index" if self.loops else "3", "2"])),
            ("$ in $", self.text(below), self.items(below)), ("'role' in $", self.dictionary()), ("not $", self.truth(below)),
            (f"($ {rng.choice(['and', 'or'])} $)", self.truth(below), self.truth(below)),
            (f"$ is {rng.choice(['', 'not '])}{kind}", rng.choice([self.text(below), self.number(below), self.items(below), self.dictionary(), "none", "true"])),
            (f"$ is {rng.choice(['upper', 'lower'])}", self.text(below)), (f"$ {rng.choice(['<', '>', '<=', '>='])} $", self.text(below), self.text(below)), ("$ in $", self.number(below), KEYS),
            (f"loop.index is {rng.choice(['odd', 'even'])}" if self.loops else "true",),
            (f"$.{rng.choice(['startswith', 'endswith'])}('{rng.choice('ha<')}')", self.text(below))]))

    def tag(self, inner):
        return "{%" + self.rng.choice(["", "", "-"]) + f" {inner} " + self.rng.choice(["", "", "-"]) + "%}"

    def block(self, depth, count=None):
        """Statements in a scope of their own, with whitespace between them; some print names of theirs or of others first."""
        held = [*self.texts], [*self.numbers], [*self.messages], self.loops
        spaces = ["", "", "\n", "\n    ", " ", "  \n", " x ", "\n\n"]
        made = f"{{{{ {self.rng.choice(NAMES)} | default('-') }}}}" if self.rng.random() < 0.3 else ""
        made += "".join(self.rng.choice(spaces) + self.statement(depth) for _ in range(count or self.rng.randint(1, 3)))
        self.texts, self.numbers, self.messages, self.loops = held
        return made + self.rng.choice(spaces)

    def statement(self, depth):
        rng, below, kind = self.rng, depth + 1, self.rng.random()
        if depth >= DEEPEST or kind < 0.4:
            drawn = rng.choice([self.text, self.text, self.text, self.number, self.truth, self.items])()
            return "{{" + rng.choice(["", "", "-"]) + f" {drawn} " + rng.choice(["", "", "-"]) + "}}"
        if kind < 0.48:
            made, name = self.text(), f"text{rng.randrange(4)}"
            self.texts.append(name)
            return self.tag(f"set {name} = {made}")
        if kind < 0.52:
            made, name = self.number(), f"number{rng.randrange(4)}"
            self.numbers.append(name)
            return self.tag(f"set {name} = {made}")
        if kind < 0.55:
            made = self.block(below)
            self.texts.append("written")
            return self.tag("set written") + made + self.tag("endset")
        if kind < 0.58:
            made, name = self.tag(f"with text0 = {self.text()}, number0 = {self.number()}"), f"text{rng.randrange(4)}"
            return made + self.block(below) + self.tag("endwith") + (self.tag(f"set {name}, number1 = {self.text()}, 1") if rng.random() < 0.5 else "")
        if kind < 0.66:
            made = self.tag(f"if {self.truth()}") + self.block(below)
            made += self.tag(f"elif {self.truth()}") + self.block(below) if rng.random() < 0.3 else ""
            return made + (self.tag("else") + self.block(below) if rng.random() < 0.5 else "") + self.tag("endif")
        if kind < 0.86:
            return self.loop(below)
        if kind < 0.9:
            made = f"{self.text()}, n={self.number()}"
            if self.namespace:
                return self.tag(rng.choice([f"set ns.a = {self.text()}", f"set ns.n = {self.number()}"]))
            if depth == 0:
                self.namespace = True
                self.texts.append("ns.a")
                self.numbers.append("ns.n")
            return self.tag(f"set ns = namespace(a={made})")
        if kind < 0.93 and depth == 0:
            return self.macro()
        if kind < 0.96:
            return "{#" + rng.choice(["", " note ", "- c -"]) + "#}"
        if kind < 0.98:
            return self.tag(f"filter {rng.choice(['trim', 'upper', 'title', 'capitalize', 'indent', 'tojson'])}") + self.block(below) + self.tag("endfilter")
        return self.tag("generation") + self.block(below) + self.tag("endgeneration")

    def loop(self, depth):
        rng, name = self.rng, self.rng.choice(["message", "m"])
        held = [*self.texts], [*self.messages]
        head = f"for {name} in {rng.choice(['messages', 'messages[1:]', 'messages | reverse'])}"
        kind = rng.random()
        if kind < 0.2:
            head = f"for key, value in {DICTIONARY}{rng.choice(['.items()', ' | items', ' | dictsort'])}".replace(DICTIONARY, KEYS if rng.random() < 0.3 else DICTIONARY)
            self.texts += ["key", "value | string"]
        elif kind < 0.4:
            head = f"for item in {self.items()}"
            self.texts.append("item | string")
        else:
            self.messages.append(name)
        head += f" if {self.truth()}" if rng.random() < 0.2 else ""
        if rng.random() < 0.1:
            return self.tag("for part in [1, ['a', [2.5]], []] recursive") + "{{ loop.depth }}{{ loop(part) if part is sequence and part is not string else part }}" + self.tag("endfor")
        self.loops += 1
        made = self.tag(head) + self.block(depth)
        ends = rng.random() < 0.25
        if ends:
            made += self.tag(f"if {self.truth()}") + self.block(depth, 1) + self.tag(rng.choice(["break", "continue"])) + self.tag("endif") + self.block(depth, 1)
        self.loops -= 1
        self.texts, self.messages = held
        return made + (self.tag("else") + self.block(depth) if not ends and rng.random() < 0.15 else "") + self.tag("endfor")

    def macro(self):
        held, self.texts, self.messages, loops, self.loops, macros, self.macros = (self.texts, self.messages), ["a", "b"], [], self.loops, 0, self.macros, 0
        made = self.tag(f"macro macro{macros}(a, b='usual')") + self.block(1) + self.tag("endmacro")
        (self.texts, self.messages), self.loops, self.macros = held, loops, macros + 1
        return made


def one_by_one():
    """The names and templates of EACH, with those of VALUES that Python takes, and of TURNS."""
    for each in EACH:
        taken = []
        for value in VALUES:
            try:
                compiled(f"{{% set x = {value} %}}{{{{ {each} }}}}").render()
                taken.append(value)
            except Exception:
                continue
        yield each, f"{{% for x in [{', '.join(taken)}] %}}{{{{ {each} }}}}|{{% endfor %}}"
    yield from ((f"turns {number}", template) for number, template in enumerate(TURNS))


def main():
    args = arguments(__doc__, count=150, seed="")
    group = Group(args, "chat_templates_random", "chat_templates_random.py", ["transformers", "jinja2"])
    for number in range(args.count):
        rng = random.Random(f"template_{args.seed}{number}")
        template = Template(rng).block(0, rng.randint(1, 4))
        variables = {"messages": draw_messages(rng), "tools": rng.choice([None, TOOLS, TOOLS]), "documents": None, "add_generation_prompt": rng.random() < 0.5}
        try:
            text = compiled(template).render(**variables, bos_token="<s>")
        except Exception:  # refused there
            continue
        if text.count("[Undefined") or " object at 0x" in text:
            continue
        group.add({"name": f"template_{args.seed}{number}", "op": "chat_template", "template": template, **variables, "text": text})
    for name, template in {} if args.seed else one_by_one():
        variables = {"messages": [{"role": role, "content": ""} for role in ("system", "user", "user")], "tools": None, "documents": None, "add_generation_prompt": False}
        group.add({"name": name, "op": "chat_template", "template": template, **variables, "text": compiled(template).render(**variables)})
    group.save()


if __name__ == "__main__":
    main()
