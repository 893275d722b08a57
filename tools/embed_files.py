"""embed_files.py FOLDER NAME OUT: a C file with the files below a folder as `const struct embedded_file NAME[]`, which ends in a NULL path."""
import os
import sys

folder, name, out = sys.argv[1:]
paths = sorted(os.path.relpath(os.path.join(place, file), folder) for place, _, files in os.walk(folder) for file in files if not file.endswith(".md"))
with open(out, "w") as file:
    file.write("#include \"embedded.h\"\n\n")
    for number, path in enumerate(paths):
        with open(os.path.join(folder, path), "rb") as source:
            data = source.read()
        lines = [",".join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
        file.write("static const unsigned char data%d[] = {%s};\n" % (number, ",\n".join(lines) or "0"))
    file.write("\nconst embedded_file %s[] = {\n" % name)
    for number, path in enumerate(paths):
        file.write("    { \"/%s\", data%d, %d },\n" % (path.replace(os.sep, "/"), number, os.path.getsize(os.path.join(folder, path))))
    file.write("    { 0 },\n};\n")
