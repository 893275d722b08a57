// Elements. Names and texts of event files become text nodes and attributes, never markup.

export function h(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false)
            continue;
        if (key.startsWith('on'))
            made.addEventListener(key.slice(2), value);
        else if (key === 'class')
            made.className = value;
        else if (key in made && typeof value !== 'string')
            made[key] = value;
        else
            made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return made;
}

export function svg(name, attributes = {}, ...children) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on'))
            made.addEventListener(key.slice(2), value);
        else if (value !== undefined && value !== null)
            made.setAttribute(key, value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return made;
}

// Signs, drawn in a square of 16.
const SIGNS = {
    pin: 'M9.5 1.5 14.5 6.5M10 2 6 6 3 6.5 9.5 13 10 10 14 6M6.2 9.8 2 14', log: 'M2 2V14H14M4 12C5 5 8 4 14 3.5', wide: 'M6 2H2V6M10 2H14V6M6 14H2V10M10 14H14V10', fit: 'M2 5V2H5M11 2H14V5M14 11V14H11M5 14H2V11M5.5 5.5H10.5V10.5H5.5Z',
    more: 'M8 3V3.01M8 8V8.01M8 13V13.01', actual: 'M2 2H14V14H2ZM6 6V10.5M10 6V10.5M8 7V7.01M8 9.5V9.51', refresh: 'M13.5 3V6.5H10M13 6.3A5.5 5.5 0 1 0 13.5 9', theme: 'M8 2A6 6 0 1 0 8 14ZM8 2A6 6 0 0 1 8 14', menu: 'M2 4H14M2 8H14M2 12H14',
};
export const sign = name => svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true', class: 'sign' }, svg('path', { d: SIGNS[name], fill: 'none', stroke: 'currentColor', 'stroke-width': name === 'more' ? 2.4 : 1.5, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));

export const by = id => document.getElementById(id);

export function toggle(label, image, pressed, change, title) {
    const made = h('button', { class: 'icon', 'aria-label': label, title: title || label, 'aria-pressed': String(pressed), type: 'button',
                               onclick: () => {
                                   const now = made.getAttribute('aria-pressed') !== 'true';
                                   made.setAttribute('aria-pressed', String(now));
                                   change(now);
                               } }, sign(image));
    return made;
}

export function segments(label, options, chosen, change) {
    const box = h('div', { class: 'segments', role: 'group', 'aria-label': label });
    for (const [value, text] of options)
        box.append(h('button', { type: 'button', 'aria-pressed': String(value === chosen), onclick: event => {
            for (const other of box.children)
                other.setAttribute('aria-pressed', String(other === event.currentTarget));
            change(value);
        } }, text));
    return box;
}

export function say(text) {
    by('spoken').textContent = text;
}

// A number as short as it can be told.
export function short(value, digits = 4) {
    if (!Number.isFinite(value))
        return String(value);
    const size = Math.abs(value);
    return size >= 1e6 || (size && size < 1e-4) ? value.toExponential(digits - 2).replace(/\.?0+e/, 'e') : String(+value.toPrecision(digits));
}

// A 32-bit number as its shortest decimal.
export function exact(value) {
    if (!Number.isFinite(value))
        return String(value);
    for (let digits = 1; digits < 10; digits++) {
        const text = value.toPrecision(digits);
        if (Math.fround(+text) === value)
            return String(+text);
    }
    return String(value);
}

export const moment = seconds => Number.isFinite(seconds) ? new Date(seconds * 1000).toLocaleString() : String(seconds);

export function duration(seconds) {
    if (!Number.isFinite(seconds))
        return '';
    const part = (n, unit) => Math.floor(n) + unit;
    return seconds < 60 ? +seconds.toPrecision(3) + 's' : seconds < 3600 ? part(seconds / 60, 'm ') + part(seconds % 60, 's')
        : seconds < 86400 ? part(seconds / 3600, 'h ') + part(seconds / 60 % 60, 'm') : part(seconds / 86400, 'd ') + part(seconds / 3600 % 24, 'h');
}

// A regular expression of what was typed; a part of a name if it is none.
export function matcher(text) {
    if (!text)
        return () => true;
    try {
        const expression = new RegExp(text, 'i');
        return name => expression.test(name);
    } catch {
        return name => name.toLowerCase().includes(text.toLowerCase());
    }
}

export function isExpression(text) {
    try {
        return Boolean(new RegExp(text));
    } catch {
        return false;
    }
}

export function later(work, wait) {
    let timer = 0;
    return (...values) => {
        clearTimeout(timer);
        timer = setTimeout(() => work(...values), wait);
    };
}

export function save(name, kind, text) {
    const address = URL.createObjectURL(new Blob([text], { type: kind }));
    const link = h('a', { href: address, download: name.replace(/[^\w.-]+/g, '_') });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

export function filterBox(label, value, change) {
    const box = h('input', { type: 'search', placeholder: label, 'aria-label': label, spellcheck: 'false', autocomplete: 'off' });
    box.value = value;
    box.classList.toggle('wrong', !isExpression(value));
    const send = later(change, 150);
    box.addEventListener('input', () => {
        box.classList.toggle('wrong', !isExpression(box.value));
        send(box.value);
    });
    return box;
}

export function emptyPage(what, how) {
    return h('div', { class: 'empty-page' }, h('p', {}, what), how ? h('p', { class: 'note' }, how) : null);
}
