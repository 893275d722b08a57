#!/usr/bin/env python3
"""Makes messages.h and messages.c in OUT of the tables of src/codec/messages.txt; src/codec/message.h says what they hold.

usage: make_messages.py TABLES OUT
"""
import sys

from collect_rows import write

C_TYPE = {"int32": "int32_t", "int64": "int64_t", "uint32": "uint32_t", "uint64": "uint64_t", "sint64": "int64_t", "fixed32": "uint32_t",
          "fixed64": "uint64_t", "bool": "bool", "float": "float", "double": "double", "enum": "int32_t", "string": "tw_string",
          "bytes": "tw_string", "message": "tw_string"}
PUT = {"sint64": "ZIGZAG", "fixed32": "FIXED32", "fixed64": "FIXED64", "float": "FLOAT", "double": "DOUBLE", "string": "BYTES",
       "bytes": "BYTES", "message": "BYTES"}


class Field:
    def __init__(self, text):
        parts = text.split()
        self.oneof = parts[-1] if "oneof" in parts else None
        if self.oneof:
            del parts[-2:]
        self.number, self.name, self.map = int(parts[0]), parts[-1], None
        middle = parts[1:-1]
        self.repeated = middle[0] == "repeated" or middle[0].startswith("map<")
        kind = " ".join(middle[1:] if middle[0] == "repeated" else middle)
        if kind.startswith("map<"):
            self.map = kind[4:-1].split(",")
            kind = "Entry"
        self.of = kind.split()[-1] if kind.startswith("enum ") or kind not in C_TYPE else None  # the enum or message
        self.type = "enum" if kind.startswith("enum ") else "message" if self.of else kind


def read(path):
    """({message: [fields]}, {enum: [(name, number)]}); a map's entry stands before the message that it belongs to."""
    parts, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("#"):
                continue
            if line[:1] != " ":
                name = line
                parts[name] = ""
            else:
                parts[name] += line.strip() + " "
    messages, enums = {}, {}
    for name, text in parts.items():
        if name.startswith("enum "):
            enums[name[5:]] = [(v.split()[0], int(v.split()[1])) for v in text.split(",")]
            continue
        fields = [Field(part) for part in text.split(";") if part.strip()]
        for field in fields:
            if field.map:
                field.of = name + "." + field.name
                messages[field.of] = [Field("1 %s key" % field.map[0]), Field("2 %s value" % field.map[1])]
        messages[name] = fields
    for name, fields in messages.items():
        for field in fields:
            if field.of and field.of not in (enums if field.type == "enum" else messages):
                sys.exit("%s: %s.%s: there is no %s" % (path, name, field.name, field.of))
    return messages, enums


def c_name(name):
    return name.replace(".", "_")


def oneofs_of(fields):
    return list(dict.fromkeys(f.oneof for f in fields if f.oneof))


def header(messages):
    out = ["/* Structs, numbers and writers of messages; made from src/codec/messages.txt by tools/make_messages.py. */", "#ifndef TW_MESSAGES_H",
           "#define TW_MESSAGES_H", ""]
    for name, fields in messages.items():
        c = c_name(name)
        if fields:
            out.append("enum { %s };" % ", ".join("TW_%s_%s = %d" % (c, f.name, f.number) for f in fields))
        out += ["typedef struct tw__%s {" % c, "    uint32_t unknown;"]
        out += ["    uint32_t which_%s;" % oneof for oneof in oneofs_of(fields)]
        out += ["    %s %s;" % ("tw__many" if f.repeated else C_TYPE[f.type], f.name) for f in fields]
        out += ["} tw__%s;" % c, "extern const tw__message tw__type_%s;" % c,
                "static inline bool tw__read_%s(tw_string bytes, tw__%s *view)" % (c, c), "{",
                "    return tw__message_read(&tw__type_%s, bytes, view);" % c, "}"]
        for f in fields:
            out.append("TW_PUT_%s(%s_%s)" % ("BYTES" if f.repeated else PUT.get(f.type, "INTEGER"), c, f.name))
        out.append("")
    return "\n".join(out + ["#endif", ""])


def initial(fields):
    made = []
    for f in fields:
        if f.repeated:
            made.append(".%s = { .number = %d, .type = TW_FIELD_%s }" % (f.name, f.number, f.type.upper()))
        elif C_TYPE[f.type] == "tw_string":
            made.append(".%s = { tw__absent, 0 }" % f.name)
    return ", ".join(made) or "0"


def tables(messages, enums):
    out = ["/* The tables of messages; made from src/codec/messages.txt by tools/make_messages.py. */", "#include <stddef.h>", "",
           '#include "codec/message.h"', ""]
    for name, values in enums.items():
        c = c_name(name)
        out += ["static const tw__enum_value values_%s[] = { %s };" % (c, ", ".join('{ "%s", %d }' % value for value in values)),
                'static const tw__enum enum_%s = { "%s", values_%s, %d };' % (c, name, c, len(values))]
    for name, fields in messages.items():
        c, oneofs, entries = c_name(name), oneofs_of(fields), {f.of for fs in messages.values() for f in fs if f.map}
        limit = max([f.number for f in fields], default=0) + 1
        places = ", ".join("[%d] = %d" % (f.number, i + 1) for i, f in enumerate(fields)) or "0"
        out.append("static const tw__%s initial_%s = { %s };" % (c, c, initial(fields)))
        out.append("static const uint8_t places_%s[%d] = { %s };" % (c, limit, places))
        out.append("static const char *const oneofs_%s[] = { %sNULL };" % (c, "".join('"%s", ' % o for o in oneofs)))
        rows = []
        for f in fields:
            row = ['"%s"' % f.name, "%d" % f.number, "TW_FIELD_" + f.type.upper(), "true" if f.repeated else "false",
                   "true" if f.map else "false", "%d" % (oneofs.index(f.oneof) + 1 if f.oneof else 0), "offsetof(tw__%s, %s)" % (c, f.name),
                   "offsetof(tw__%s, which_%s)" % (c, f.oneof) if f.oneof else "0",
                   "&tw__type_%s" % c_name(f.of) if f.type == "message" else "NULL", "&enum_%s" % c_name(f.of) if f.type == "enum" else "NULL"]
            rows.append("    { %s }," % ", ".join(row))
        out += ["static const tw__message_field fields_%s[] = {" % c] + (rows or ["    { 0 },"]) + ["};"]
        out.append('const tw__message tw__type_%s = { "%s", fields_%s, places_%s, oneofs_%s, &initial_%s, %d, %d, sizeof(tw__%s), %s };' % (
            c, name, c, c, c, c, len(fields), limit, c, "true" if name in entries else "false"))
    out += ["", "const tw__message *const tw__messages[] = { %s, NULL };" % ", ".join("&tw__type_" + c_name(n) for n in messages),
            "const tw__enum *const tw__enums[] = { %s, NULL };" % ", ".join("&enum_" + c_name(n) for n in enums), ""]
    return "\n".join(out)


def main():
    messages, enums = read(sys.argv[1])
    write(sys.argv[2] + "/messages.h", header(messages))
    write(sys.argv[2] + "/messages.c", tables(messages, enums))


main()
