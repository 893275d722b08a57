// What the page shows stands in its address: #scalars&smooth=0.6&…

const values = new Map(), listeners = new Set();
export let page = '';

function read() {
    const [name, ...parts] = location.hash.replace(/^#/, '').split('&');
    page = decodeURIComponent(name || '');
    values.clear();
    for (const part of parts) {
        const at = part.indexOf('=');
        try {
            values.set(decodeURIComponent(part.slice(0, at)), decodeURIComponent(part.slice(at + 1)));
        } catch {
            // what is no text is left out
        }
    }
}

const encode = text => encodeURIComponent(text).replace(/%(2F|3A|2C|5B|5D|22|20)/g, (all, code) => code === '20' || code === '22' ? all : decodeURIComponent(all));

function write() {
    const parts = [...values].filter(([, value]) => value !== '').map(([key, value]) => encode(key) + '=' + encode(value));
    history.replaceState(null, '', '#' + [encodeURIComponent(page), ...parts].join('&'));
}

export const text = (key, otherwise = '') => values.get(key) ?? otherwise;
export const number = (key, otherwise) => values.has(key) && Number.isFinite(+values.get(key)) ? +values.get(key) : otherwise;
export const flag = (key, otherwise = false) => values.has(key) ? values.get(key) === '1' : otherwise;

export function json(key, otherwise) {
    try {
        return values.has(key) ? JSON.parse(values.get(key)) : otherwise;
    } catch {
        return otherwise;
    }
}

// quiet: nothing has to be drawn anew.
export function set(key, value, quiet = false) {
    const made = value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : value === true ? '1' : value === false ? '0' : String(value);
    if (made === '' || made === '[]' || made === '{}')
        values.delete(key);
    else
        values.set(key, made);
    write();
    if (!quiet)
        listeners.forEach(listener => listener(key));
}

export function open(name) {
    page = name;
    write();
    listeners.forEach(listener => listener('page'));
}

export const list = key => {
    const found = json(key, []);
    return Array.isArray(found) ? found.map(String) : [];
};

export function flip(key, name, on, quiet) {
    set(key, on ? [...new Set([...list(key), name])] : list(key).filter(other => other !== name), quiet);
}

// Of one of many things: a slider's place by its name.
export const item = (key, name) => json(key, {})?.[name];
export function setItem(key, name, value) {
    const all = json(key, {}) || {};
    if (value === undefined)
        delete all[name];
    else
        all[name] = value;
    set(key, all, true);
}

export const listen = listener => listeners.add(listener);
window.addEventListener('hashchange', () => {
    read();
    listeners.forEach(listener => listener('page'));
});
read();
