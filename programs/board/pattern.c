/* Regular expressions of custom charts, matched at the beginning of a text as Python's re.match does: literals, ., [], (), |, *,
 * +, ?, {n,m}, ^, $, \d \w \s and their opposites. A limit of steps keeps any expression from taking long. */
#include <ctype.h>
#include <string.h>

#include "board.h"

enum { STEPS = 200000, DEPTH = 400, MOST = 1000 };

typedef struct matcher {
    const char *text;
    int steps, depth;
    bool bad;
} matcher;

/* What is to be matched behind an expression. */
typedef struct rest {
    const char *from, *to;
    const struct rest *next;
} rest;

static bool match(matcher *m, const char *p, const char *end, const char *at, const rest *next);

/* Behind the atom at p, or NULL. */
static const char *atom_end(const char *p, const char *end)
{
    if (*p == '\\')
        return p + 1 < end ? p + 2 : NULL;
    if (*p == '[') {
        p += p[1] == '^' ? 2 : 1;
        for (const char *first = p; p < end && (*p != ']' || p == first); p++)
            p += *p == '\\' && p + 1 < end;
        return p < end ? p + 1 : NULL;
    }
    if (*p != '(')
        return strchr("*+?)", *p) ? NULL : p + 1;
    int depth = 0;
    for (; p < end; p++) {
        if (*p == '[') {
            const char *behind = atom_end(p, end);
            if (!behind)
                return NULL;
            p = behind - 1;
        } else if (*p == '\\') {
            p++;
        } else if (*p == '(') {
            depth++;
        } else if (*p == ')' && --depth == 0) {
            return p + 1;
        }
    }
    return NULL;
}

static bool in_class(char kind, char c)
{
    unsigned char u = (unsigned char)c;
    bool is = tolower(kind) == 'd' ? isdigit(u) : tolower(kind) == 'w' ? isalnum(u) || c == '_' || u >= 128 : isspace(u);
    return is != (isupper((unsigned char)kind) != 0);
}

static bool one(const char *p, const char *end, char c)
{
    if (*p == '.')
        return c && c != '\n';
    if (*p == '\\')
        return c && (strchr("dDwWsS", p[1]) ? in_class(p[1], c) : p[1] == 'n' ? c == '\n' : p[1] == 't' ? c == '\t' : p[1] == c);
    if (*p != '[')
        return *p == c && c;
    bool not = p[1] == '^', found = false;
    for (p += not ? 2 : 1, end--; p < end; p++) {
        if (*p == '\\' && p + 1 < end) {
            p++;
            found |= strchr("dDwWsS", *p) ? in_class(*p, c) : *p == c;
        } else if (p + 2 < end && p[1] == '-') {
            found |= c >= *p && c <= p[2];
            p += 2;
        } else {
            found |= *p == c;
        }
    }
    return c && found != not ;
}

static bool match_rest(matcher *m, const char *at, const rest *next)
{
    return !next || match(m, next->from, next->to, at, next->next);
}

/* How often: a quantifier at p; gives what is behind it. */
static const char *quantifier(const char *p, const char *end, int *least, int *most, bool *lazy)
{
    *least = *most = 1;
    *lazy = false;
    if (p < end && strchr("*+?", *p)) {
        *least = *p == '+';
        *most = *p == '?' ? 1 : MOST;
        p++;
    } else if (p + 1 < end && *p == '{' && isdigit((unsigned char)p[1])) {
        const char *q = p + 1;
        int a = 0, z = 0;
        for (; q < end && isdigit((unsigned char)*q); q++)
            a = a < MOST ? 10 * a + (*q - '0') : MOST;
        bool range = q < end && *q == ',';
        q += range;
        bool open = range && q < end && *q == '}';
        for (; range && q < end && isdigit((unsigned char)*q); q++)
            z = z < MOST ? 10 * z + (*q - '0') : MOST;
        if (q < end && *q == '}') {
            *least = a;
            *most = open ? MOST : range ? z : a;
            p = q + 1;
        }
    } else {
        return p;
    }
    if (p < end && *p == '?') {
        *lazy = true;
        p++;
    }
    return p;
}

static bool repeat(matcher *m, const char *p, const char *atom, const char *behind, const char *end, int least, int most,
                   const char *at, const rest *next)
{
    bool group = *p == '(';
    if (least <= 0 && (most <= 0 || (!group && !one(p, atom, *at))))
        return match(m, behind, end, at, next);
    if (!group) {
        int count = 0, room = most;
        while (count < room && one(p, atom, at[count]))
            count++;
        for (; count >= least; count--) {
            if (match(m, behind, end, at + count, next))
                return true;
            if (m->bad)
                return false;
        }
        return false;
    }
    const char *inside = p[1] == '?' && p[2] == ':' ? p + 3 : p + 1;
    rest after = { behind, end, next };
    if (most > 0) {
        if (most == 1 && match(m, inside, atom - 1, at, &after))
            return true;
        if (most > 1) {
            /* The group once, up to a place, and from there on the same with one time less. */
            for (const char *stop = at + strlen(at); stop > at && !m->bad; stop--) {
                rest limit = { NULL, stop, NULL };
                if (match(m, inside, atom - 1, at, &limit) && repeat(m, p, atom, behind, end, least - 1, most - 1, stop, next))
                    return true;
            }
        }
    }
    return least <= 0 && !m->bad && match(m, behind, end, at, next);
}

static bool alternatives(matcher *m, const char *p, const char *end, const char *at, const rest *next)
{
    const char *start = p;
    while (p < end) {
        if (*p == '|') {
            if (match(m, start, p, at, next))
                return true;
            start = ++p;
            continue;
        }
        const char *behind = strchr("*+?{", *p) ? p + 1 : atom_end(p, end);
        if (!behind) {
            m->bad = true;
            return false;
        }
        p = behind;
    }
    return false;
}

/* Whether there is a | outside of groups; start of the last alternative. */
static const char *last_alternative(const char *p, const char *end)
{
    const char *last = NULL;
    while (p < end) {
        const char *behind = strchr("*+?{|", *p) ? p + 1 : atom_end(p, end);
        if (*p == '|')
            last = p + 1;
        if (!behind)
            return last;
        p = behind;
    }
    return last;
}

static bool match(matcher *m, const char *p, const char *end, const char *at, const rest *next)
{
    if (++m->steps > STEPS || m->depth >= DEPTH)
        m->bad = true;
    if (m->bad)
        return false;
    if (!p) /* a group that has to end at a place */
        return at == end;
    const char *last = last_alternative(p, end);
    m->depth++;
    bool found = false;
    if (last) {
        found = alternatives(m, p, end, at, next) || (!m->bad && match(m, last, end, at, next));
    } else if (p == end) {
        found = match_rest(m, at, next);
    } else if (*p == '^' || *p == '$') {
        found = (*p == '^' ? at == m->text : !*at || (*at == '\n' && !at[1])) && match(m, p + 1, end, at, next);
    } else {
        const char *atom = atom_end(p, end);
        int least, most;
        bool lazy;
        if (!atom) {
            m->bad = true;
        } else {
            const char *behind = quantifier(atom, end, &least, &most, &lazy);
            found = repeat(m, p, atom, behind, end, least, most, at, next);
        }
    }
    m->depth--;
    return found;
}

int board_matches(const char *pattern, const char *text)
{
    matcher m = { .text = text };
    const char *end = pattern + strlen(pattern);
    for (const char *p = pattern; p < end;) {
        const char *behind = *p == '|' || *p == '{' ? p + 1 : atom_end(p, end);
        int least, most;
        bool lazy;
        if (!behind)
            return -1;
        p = *p == '|' ? behind : quantifier(behind, end, &least, &most, &lazy);
    }
    bool found = match(&m, pattern, end, text, NULL);
    return m.bad ? -1 : found;
}
