"""Markdown as the guides of docs/ write it, as HTML: headings, paragraphs, lists, tables, code, links."""
import html
import re


def inline(text):
    """Code, bold text and links within a line."""
    kept = []

    def keep(made):
        kept.append(made)
        return "\0%d\0" % (len(kept) - 1)
    text = re.sub(r"`([^`]+)`", lambda m: keep("<code>%s</code>" % html.escape(m.group(1))), text)
    text = html.escape(text, quote=False)
    text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", lambda m: link(m.group(1), m.group(2)), text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<em>\1</em>", text)
    return re.sub("\0(\\d+)\0", lambda m: kept[int(m.group(1))], text)


def page_of(target):
    """A guide's file as its page."""
    m = re.match(r"([\w/]+)\.md(#.*)?$", target)
    return "guide-%s.html%s" % (m.group(1).replace("/", "-"), m.group(2) or "") if m else target


resolve = page_of  # what a link leads to; None: nowhere, its text stands alone. make_docs.py sets it


def link(text, target):
    address = resolve(target)
    return '<a href="%s">%s</a>' % (html.escape(address), text) if address else text


def anchor(text):
    return re.sub(r"[^\w]+", "-", re.sub(r"<[^>]+>", "", text).lower()).strip("-")


def table(lines):
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    out = ["<div class=scroll><table><thead><tr>%s</tr></thead><tbody>" % "".join("<th>%s</th>" % inline(cell) for cell in rows[0])]
    out += ["<tr>%s</tr>" % "".join("<td>%s</td>" % inline(cell) for cell in row) for row in rows[2:]]
    return "".join(out) + "</tbody></table></div>"


def items(lines):
    """A list; lines behind an item that are indented belong to it, and may be a list themselves."""
    found = []
    for line in lines:
        if re.match(r"([-*]|\d+\.) ", line):
            found.append([re.sub(r"^([-*]|\d+\.) ", "", line)])
        else:
            found[-1].append(line)
    kind = "ol" if lines[0][0].isdigit() else "ul"
    out = []
    for first, *rest in found:
        width = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        inner = "\n".join(line[width:] for line in rest)
        nested = re.match(r"([-*]|\d+\.) |```", inner)
        out.append("<li>%s</li>" % (inline(first) + page(inner) if nested else inline(" ".join([first] + [line.strip() for line in rest]))))
    return "<%s>%s</%s>" % (kind, "".join(out), kind)


def page(text):
    out, lines, at = [], text.split("\n"), 0

    def until(stop):
        nonlocal at
        start = at
        while at < len(lines) and not stop(lines[at]):
            at += 1
        return lines[start:at]
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            at += 1
            out.append("<pre><code>%s</code></pre>" % html.escape("\n".join(until(lambda found: found.startswith("```")))))
            at += 1
        elif re.match(r"#{1,6} ", line):
            level, title = len(line) - len(line.lstrip("#")), inline(line.lstrip("# "))
            out.append('<h%d id="%s">%s</h%d>' % (level, anchor(title), title, level))
            at += 1
        elif line.startswith("|"):
            out.append(table(until(lambda found: not found.startswith("|"))))
        elif re.match(r"([-*]|\d+\.) ", line):
            out.append(items([found for found in until(lambda found: found and not found.startswith(" ") and not re.match(r"([-*]|\d+\.) ", found)) if found.strip()]))
        elif line.startswith("    "):
            out.append("<pre><code>%s</code></pre>" % html.escape("\n".join(found[4:] for found in until(lambda found: found and not found.startswith("    "))).rstrip()))
        elif line.strip():
            out.append("<p>%s</p>" % inline(" ".join(until(lambda found: not found.strip() or found.startswith(("```", "|", "#")) or re.match(r"[-*] ", found)))))
        else:
            at += 1
    return "\n".join(out)
