// Graphs: scopes that open and close, drawn in layers from inputs to outputs.
import * as data from './data.js';
import { emptyPage, h, later, short, svg } from './dom.js';
import { layout } from './layout.js';
import * as state from './state.js';

const MOST = 400, HUES = ['#f6c99f', '#b9d4f7', '#b7e0c4', '#f0bfe0', '#d3c4f3', '#b5dfe2', '#ead6a6', '#f3bcbc', '#cfdfb1', '#c9d3df'];

// ---- the tree of scopes

class Scope {
    constructor(name, path, parent) {
        Object.assign(this, { name, path, parent, children: new Map(), edges: new Map(), op: null, count: 0 });
    }
}

const plain = input => input.replace(/^\^/, '').replace(/:.*$/, '');

// A scope for each part of the names; edges stand at the scope in which both ends are.
export function tree(nodes) {
    const root = new Scope('', '', null), leaves = new Map();
    for (const node of nodes) {
        const parts = node[0].split('/');
        let at = root;
        parts.forEach((part, i) => {
            const last = i === parts.length - 1, path = parts.slice(0, i + 1).join('/');
            const key = last ? 'op ' + part : part;
            if (!at.children.has(key))
                at.children.set(key, new Scope(part, last ? path : path + '/', at));
            at = at.children.get(key);
        });
        at.op = node;
        leaves.set(node[0], at);
    }
    const size = scope => scope.count = scope.op ? 1 : [...scope.children.values()].reduce((sum, child) => sum + size(child), 0);
    size(root);
    const depth = scope => scope.parent ? depth(scope.parent) + 1 : 0;
    for (const node of nodes) {
        const target = leaves.get(node[0]);
        for (const input of node[3]) {
            const source = leaves.get(plain(input));
            if (!source || source === target)
                continue;
            let a = source, b = target, da = depth(a), db = depth(b);
            for (; da > db; da--) a = a.parent;
            for (; db > da; db--) b = b.parent;
            for (; a.parent !== b.parent; a = a.parent, b = b.parent);
            const at = a.parent, slot = +(input.match(/:(\d+)$/)?.[1] || 0), id = a.path + '\0' + b.path;
            const edge = at.edges.get(id) || { from: a, to: b, count: 0, control: true, shape: '' };
            edge.count++;
            edge.control &&= input.startsWith('^');
            edge.shape ||= source.op[5]?.[slot] || '';
            at.edges.set(id, edge);
        }
    }
    root.leaves = leaves;
    return root;
}

// The time of a scope's ops in the profile.
const time = scope => scope.op ? scope.time || 0 : [...scope.children.values()].reduce((sum, child) => sum + time(child), 0);

const scopes = scope => scope.op ? [] : [scope.path, ...[...scope.children.values()].flatMap(scopes)];

// ---- drawing

function hash(text) {
    let sum = 0;
    for (const letter of text)
        sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
    return sum;
}

class View {
    constructor(root, details, name) {
        Object.assign(this, { root, details, name, longest: root.longest });
        this.open = new Set(state.json('open', {})?.[name] || (root.count <= 30 ? scopes(root) : root.children.size === 1 ? [[...root.children.values()][0].path] : []));
        this.layer = svg('g');
        this.picture = svg('svg', { role: 'img', 'aria-label': 'The graph; scopes open with a double click or with Enter' }, svg('defs', {},
            svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: 'auto' }, svg('path', { d: 'M0 0L8 4L0 8z', fill: 'var(--soft)' }))), this.layer);
        this.shift = { x: 20, y: 20, k: 1 };
        this.listen();
    }

    measure(scope) {
        const open = !scope.op && this.open.has(scope.path);
        if (!open) {
            scope.box = { width: Math.max(64, Math.min(220, 7.2 * scope.name.length + (scope.op ? 24 : 56))), height: scope.op ? 28 : 36 };
            return scope.box;
        }
        const inner = this.arrange(scope);
        scope.box = { width: Math.max(inner.width + 24, 7.2 * scope.name.length + 60), height: inner.height + 46 };
        return scope.box;
    }

    arrange(scope) {
        const all = [...scope.children.values()], items = all.slice(0, MOST);
        scope.left = all.length - items.length;
        const index = new Map(items.map((item, i) => [item, i])), sizes = items.map(item => this.measure(item));
        const edges = [...scope.edges.values()].filter(edge => index.has(edge.from) && index.has(edge.to)).map(edge => ({ ...edge, a: index.get(edge.from), b: index.get(edge.to) }));
        scope.inner = { items, edges, ...layout(sizes, edges) };
        return scope.inner;
    }

    fill(scope) {
        const by = state.text('paint', 'op');
        if (by === 'time') { // from white to red, on a scale of roots: few ops take nearly all of it
            const share = Math.sqrt(time(scope) / (this.longest || 1));
            return scope.op || !this.open.has(scope.path) ? 'hsl(' + (50 - 45 * share) + ' 90% ' + (96 - 38 * share) + '%)' : '';
        }
        if (by === 'device')
            return scope.op ? HUES[hash(scope.op[2] || '') % HUES.length] : '';
        return scope.op ? HUES[hash(scope.op[1] || scope.op[4].find(attr => attr[0] === 'keras_class')?.[1] || '') % HUES.length] : '';
    }

    put(scope, into) {
        const { items, edges, places, points } = scope.inner;
        edges.forEach((edge, i) => {
            const line = points[i], middle = line[Math.floor(line.length / 2)], d = 'M' + line[0].join(',') + line.slice(1).map(([x, y], k) => 'C' + line[k][0] + ',' + (line[k][1] + y) / 2 + ' ' + x + ',' + (line[k][1] + y) / 2 + ' ' + x + ',' + y).join('');
            into.append(svg('path', { class: 'g-edge' + (edge.control ? ' control' : ''), d, 'marker-end': 'url(#arrow)', 'stroke-width': Math.min(5, 1 + Math.log2(edge.count)) },
                svg('title', {}, edge.from.path + ' → ' + edge.to.path + (edge.shape ? ' ' + edge.shape : '') + (edge.count > 1 ? ', ' + edge.count + ' tensors' : ''))));
            const label = edge.count > 1 ? edge.count + ' tensors' : edge.shape;
            if (label && !edge.control)
                into.append(svg('text', { class: 'g-label', x: (line[0][0] + middle[0]) / 2 + 5, y: (line[0][1] + middle[1]) / 2 + 3 }, label));
        });
        items.forEach((item, i) => this.putItem(item, places[i], into));
        if (scope.left)
            into.append(svg('text', { class: 'g-label', x: 4, y: -4 }, 'and ' + scope.left + ' more'));
    }

    putItem(item, [x, y], into) {
        const open = !item.op && this.open.has(item.path), { width, height } = item.box, made = svg('g', { class: (item.op ? 'g-node' : 'g-group') + (this.chosen === item.path ? ' g-chosen' : ''), transform: 'translate(' + x + ',' + y + ')', tabindex: 0, role: 'button',
            'aria-label': (item.op ? item.op[1] + ' ' : 'scope of ' + item.count + ' nodes ') + item.path, 'data-path': item.path, 'aria-expanded': item.op ? null : String(open) });
        const shape = svg('rect', { width, height, rx: item.op ? height / 2 : 8 });
        if (this.fill(item)) {
            shape.style.fill = this.fill(item);
        }
        const text = svg('text', { x: open ? 12 : width / 2, y: open ? 20 : height / 2 + 4, 'text-anchor': open ? 'start' : 'middle' }, item.name.length > 28 ? item.name.slice(0, 27) + '…' : item.name);
        if (this.fill(item))
            text.style.fill = '#1f2328';
        made.append(shape, text, svg('title', {}, item.path));
        if (!item.op) {
            text.setAttribute('x', open ? 12 : width / 2 - 10);
            made.append(svg('text', { x: width - 20, y: open ? 21 : height / 2 + 5, class: 'g-toggle' }, open ? '−' : '+'));
            made.querySelector('.g-toggle').addEventListener('click', event => {
                event.stopPropagation();
                this.turn(item);
            });
        }
        made.addEventListener('click', event => {
            event.stopPropagation();
            this.choose(item);
        });
        made.addEventListener('dblclick', event => {
            event.stopPropagation();
            this.turn(item);
        });
        made.addEventListener('keydown', event => {
            if (event.key !== 'Enter' && event.key !== ' ')
                return;
            event.preventDefault();
            event.stopPropagation();
            this.choose(item);
            this.turn(item);
            this.picture.querySelector('[data-path="' + CSS.escape(item.path) + '"]')?.focus();
        });
        if (open) {
            const inside = svg('g', { transform: 'translate(12,34)' });
            this.put(item, inside);
            made.append(inside);
        }
        into.append(made);
    }

    draw() {
        this.size = this.arrange(this.root);
        this.layer.replaceChildren();
        this.put(this.root, this.layer);
        this.move();
    }

    move() {
        const { x, y, k } = this.shift;
        this.layer.setAttribute('transform', 'translate(' + x + ',' + y + ') scale(' + k + ')');
    }

    fit() {
        const box = this.picture.getBoundingClientRect(), k = Math.min(1.25, (box.width - 40) / (this.size.width + 1), (box.height - 40) / (this.size.height + 1));
        this.shift = { k: Math.max(.05, k), x: (box.width - this.size.width * k) / 2, y: Math.max(16, (box.height - this.size.height * k) / 2) };
        this.move();
    }

    turn(item) {
        if (item.op)
            return;
        this.open.has(item.path) ? this.open.delete(item.path) : this.open.add(item.path);
        state.setItem('open', this.name, [...this.open]);
        this.draw();
    }

    choose(item) {
        this.chosen = item.path;
        for (const one of this.picture.querySelectorAll('.g-chosen'))
            one.classList.remove('g-chosen');
        this.picture.querySelector('[data-path="' + CSS.escape(item.path) + '"]')?.classList.add('g-chosen');
        const outputs = [];
        if (item.op)
            for (const leaf of this.root.leaves.values())
                if (leaf.op[3].some(input => plain(input) === item.op[0])) outputs.push(leaf.op[0]);
        const names = list => h('ul', {}, list.slice(0, 100).map(name => h('li', {}, h('button', { class: 'link', type: 'button', onclick: () => this.goTo(plain(name)) }, name))));
        const part = (title, value) => value && (value.length || value.nodeType) ? [h('dt', {}, title), h('dd', {}, value)] : [];
        this.details.replaceChildren(h('h3', {}, item.name), h('dl', {}, item.op ? [part('Operation', item.op[1]), part('Name', item.op[0]), part('Device', item.op[2]), part('Time in the profile', item.time && short(item.time) + ' µs'), part('Shapes of outputs', item.op[5].join(', ')),
            part('Inputs', item.op[3].length && names(item.op[3])), part('Outputs go to', outputs.length && names(outputs)), ...item.op[4].flatMap(([name, value]) => part(name, value))]
            : [part('Scope', item.path), part('Time in the profile', time(item) && short(time(item)) + ' µs'), part('Nodes', String(item.count)), part('Parts', names([...item.children.values()].map(child => child.path)))]));
    }

    goTo(path) {
        const parts = path.replace(/\/$/, '').split('/');
        let at = this.root;
        for (let i = 0; i < parts.length && at; i++) {
            const last = i === parts.length - 1;
            at = (last && at.children.get('op ' + parts[i])) || at.children.get(parts[i]) || at.children.get('op ' + parts[i]);
            if (at && !last && !at.op)
                this.open.add(at.path);
        }
        if (!at)
            return;
        state.setItem('open', this.name, [...this.open]);
        this.draw();
        this.choose(at);
        const box = this.picture.getBoundingClientRect(), found = this.picture.querySelector('[data-path="' + CSS.escape(at.path) + '"]')?.getBoundingClientRect();
        if (found) {
            this.shift.x += box.left + box.width / 2 - found.left - found.width / 2;
            this.shift.y += box.top + box.height / 2 - found.top - found.height / 2;
            this.move();
        }
    }

    listen() {
        let from = null;
        const fingers = new Map();
        this.picture.addEventListener('wheel', event => {
            event.preventDefault();
            const box = this.picture.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, factor = Math.exp(-event.deltaY / 500), { shift } = this;
            this.shift = { k: shift.k * factor, x: x - (x - shift.x) * factor, y: y - (y - shift.y) * factor };
            this.move();
        }, { passive: false });
        this.picture.addEventListener('pointerdown', event => {
            fingers.set(event.pointerId, event);
            from = { x: event.clientX - this.shift.x, y: event.clientY - this.shift.y };
        });
        this.picture.addEventListener('pointermove', event => {
            if (!from || !fingers.has(event.pointerId) || (event.pointerType === 'mouse' && !event.buttons))
                return;
            this.shift.x = event.clientX - from.x;
            this.shift.y = event.clientY - from.y;
            this.move();
        });
        for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
            this.picture.addEventListener(end, event => {
                fingers.delete(event.pointerId);
                from = null;
            });
    }
}

// ---- the page

function choices(info) {
    const out = [], on = new Set(data.shown().map(run => data.index.runs[run]));
    for (const [run, { tags, run_graph }] of Object.entries(info)) {
        if (!on.has(run))
            continue;
        if (run_graph)
            out.push({ run, title: run + ': graph' });
        for (const { tag, conceptual_graph, op_graph } of Object.values(tags)) {
            if (op_graph)
                out.push({ run, tag, title: run + ': ' + tag });
            if (conceptual_graph)
                out.push({ run, tag, conceptual: 'true', title: run + ': ' + tag + ' (Keras layers)' });
        }
    }
    return out;
}

// What the newest profile says of the nodes; a run's own profiles come first. The longest time; 0: there is none.
async function times(root, run) {
    const profiles = await data.ask('profile', 'runs'), own = profiles.filter(name => name.startsWith(run + '/')), newest = (own.length ? own : profiles).at(-1), known = newest ? await data.ask('profile', 'nodes', { run: newest }) : {};
    let longest = 0;
    for (const [name, leaf] of root.leaves) {
        leaf.time = known[name] || 0;
        longest = Math.max(longest, leaf.time);
    }
    return root.longest = longest;
}

export async function graphsPage(content) {
    const list = choices(await data.ask('graphs', 'info'));
    if (!list.length) {
        content.append(emptyPage('There are no graphs in these logs yet.', 'tf.summary.trace_on(graph=True), a call, and tf.summary.trace_export(…) write one.'));
        return {};
    }
    const chosen = list.find(one => one.title === state.text('graph')) || list[0], { title, ...query } = chosen;
    const graph = await data.ask('graphs', 'nodes', query), functions = Object.keys(graph.functions).sort();
    const part = functions.includes(state.text('function')) ? state.text('function') : '';
    const root = tree(part ? graph.functions[part] : graph.nodes), details = h('div', { class: 'details', role: 'region', 'aria-label': 'Details of a node', tabIndex: 0 }, h('p', { class: 'note' }, 'Click a node for its details; open a scope with + or a double click. Drag moves, the wheel zooms.'));
    const timed = await times(root, query.run);
    const view = new View(root, details, title + '\0' + part), found = h('datalist', { id: 'nodes' }, [...root.leaves.keys()].slice(0, 3000).map(name => h('option', { value: name })));
    const select = (label, options, value, change) => {
        const made = h('select', { 'aria-label': label, onchange: () => change(made.value) }, options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
        return made;
    };
    const search = h('input', { type: 'search', list: 'nodes', placeholder: 'Find a node', 'aria-label': 'Find a node', onchange: () => {
        const name = root.leaves.has(search.value) ? search.value : [...root.leaves.keys()].find(one => one.toLowerCase().includes(search.value.toLowerCase()));
        if (name && search.value)
            view.goTo(name);
    } });
    content.append(h('div', { class: 'bar' }, select('Graph', list.map(one => [one.title, one.title]), title, value => {
        state.set('function', '', true);
        state.set('graph', value);
    }), functions.length ? select('Function', [['', 'main graph'], ...functions.map(name => [name, name])], part, value => state.set('function', value)) : null,
    select('Colour by', [['op', 'colour by operation'], ['device', 'colour by device'], ...timed ? [['time', 'colour by time']] : []], state.text('paint', 'op'), value => {
        state.set('paint', value, true);
        view.draw();
    }), search, found, h('button', { type: 'button', onclick: () => view.fit() }, 'Fit'), h('span', { class: 'note' }, root.count + (root.count === 1 ? ' node' : ' nodes') + (graph.total > graph.most ? ' (of ' + graph.total + ')' : ''))),
    h('div', { class: 'split' }, h('div', { class: 'stage' }, view.picture), details));
    view.draw();
    return { update: () => {}, restyle: () => view.draw(), ready: later(() => view.fit(), 20) };
}
