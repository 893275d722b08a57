"""embed_text.py FILE NAME OUT: a C file with the bytes of a text as `const char NAME[]`, ending in a zero byte."""
import sys

path, name, out = sys.argv[1:]
with open(path, "rb") as file:
    data = file.read() + b"\0"
lines = [", ".join(str(b if b < 128 else b - 256) for b in data[i:i + 24]) for i in range(0, len(data), 24)]
with open(out, "w") as file:
    file.write("extern const char %s[];\nconst char %s[] = {\n    %s\n};\n" % (name, name, ",\n    ".join(lines)))
