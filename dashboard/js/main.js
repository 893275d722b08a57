// The page of `thalweg tensorboard`: asks for what event files hold and draws it. Names and texts become text nodes, never markup.
'use strict';
const COLORS = ['#e8710a', '#1a73e8', '#0b8043', '#c5221f', '#9334e6', '#007b83', '#b06000', '#5f6368'];
const RELOAD = 30000, RIDGES = 24, SHOWN_EVENTS = 4000, SHOWN_ROWS = 200;
const hidden = new Set();
let tab = 'scalars', runs = [], turn = 0;

// ---- asking

async function get(path) {
    const answer = await fetch(path);
    if (!answer.ok)
        throw Error(path + ': ' + answer.status);
    return answer.json();
}

function ask(plugin, what, query = {}) {
    return get('/data/plugin/' + plugin + '/' + what + '?' + new URLSearchParams(query));
}

// ---- elements

const by = id => document.getElementById(id);

function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined)
        made.textContent = text;
    if (kind)
        made.className = kind;
    return made;
}

function shape(name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes)
        made.setAttribute(key, attributes[key]);
    if (text !== undefined)
        made.textContent = text;
    return made;
}

function card(title, about) {
    const made = element('div', undefined, 'card');
    made.append(element('h3', title));
    if (about)
        made.append(element('div', about));
    return made;
}

function row(cells, kind = 'td') {
    const made = element('tr');
    for (const cell of cells)
        made.append(element(kind, cell, kind === 'td' && /^[\d.]+$/.test(cell) ? 'number' : ''));
    return made;
}

const color = run => COLORS[runs.indexOf(run) % COLORS.length];
const number = value => typeof value === 'number' ? value : NaN;
const finite = points => points.filter(point => isFinite(number(point[2])));

function short(value) {
    const size = Math.abs(value);
    return size >= 1e5 || (size && size < 1e-3) ? value.toExponential(2) : String(+value.toPrecision(4));
}

// ---- drawings

function smoothed(points, weight) {
    let last = 0, count = 0;
    return points.map(([time, step, value]) => {
        last = last * weight + (1 - weight) * value;
        count++;
        return [time, step, last / (1 - Math.pow(weight, count))];
    });
}

function chart(lines) {
    const width = 340, height = 200, left = 46, below = 20, svg = shape('svg', { width, height, viewBox: '0 0 ' + width + ' ' + height });
    const all = lines.flatMap(line => line.points);
    if (!all.length) {
        svg.append(shape('text', { x: 20, y: 30 }, 'no finite value'));
        return svg;
    }
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const [, step, value] of all) {
        [x0, x1] = [Math.min(x0, step), Math.max(x1, step)];
        [y0, y1] = [Math.min(y0, value), Math.max(y1, value)];
    }
    x1 = x0 === x1 ? x0 + 1 : x1;
    [y0, y1] = y0 === y1 ? [y0 - .5, y1 + .5] : [y0, y1];
    const x = step => left + (step - x0) / (x1 - x0) * (width - left - 8);
    const y = value => height - below - (value - y0) / (y1 - y0) * (height - below - 8);
    for (let i = 0; i <= 4; i++) {
        const value = y0 + (y1 - y0) * i / 4, step = Math.round(x0 + (x1 - x0) * i / 4);
        svg.append(shape('line', { x1: left, x2: width - 8, y1: y(value), y2: y(value), stroke: '#eee' }),
                   shape('text', { x: 2, y: y(value) + 3 }, short(value)), shape('text', { x: x(step) - 8, y: height - 6 }, short(step)));
    }
    for (const line of lines) {
        for (const [points, opacity] of [[line.points, .25], [smoothed(line.points, +by('smooth').value), 1]])
            svg.append(shape('polyline', { fill: 'none', stroke: line.color, 'stroke-width': 1.5, 'stroke-opacity': opacity,
                                           points: points.map(point => x(point[1]) + ',' + y(point[2])).join(' ') }));
        const last = line.points[line.points.length - 1];
        if (last) {
            const mark = shape('circle', { cx: x(last[1]), cy: y(last[2]), r: 3, fill: line.color });
            mark.append(shape('title', {}, line.run + ': ' + short(last[2]) + ' at step ' + last[1]));
            svg.append(mark);
        }
    }
    return svg;
}

function ridges(points) {
    const width = 340, height = 220, svg = shape('svg', { width, height }), shown = points.slice(-RIDGES);
    let [low, high, most] = [Infinity, -Infinity, 1];
    for (const [, , buckets] of shown) {
        for (const [left, right, count] of buckets)
            [low, high, most] = [Math.min(low, left), Math.max(high, right), Math.max(most, count)];
    }
    [low, high] = low === Infinity ? [0, 1] : [low, high > low ? high : low + 1];
    const x = value => 30 + (value - low) / (high - low) * (width - 60);
    shown.forEach(([, step, buckets], i) => {
        const y = 50 + i * (height - 70) / shown.length;
        const line = buckets.map(([left, right, count]) => x((left + right) / 2) + ',' + (y - count / most * 40)).join(' ');
        svg.append(shape('polyline', { points: x(low) + ',' + y + ' ' + line + ' ' + x(high) + ',' + y, fill: '#e8710a', 'fill-opacity': .35,
                                       stroke: '#a14d00' }), shape('text', { x: width - 28, y }, step));
    });
    svg.append(shape('text', { x: 20, y: height - 4 }, short(low)), shape('text', { x: width - 60, y: height - 4 }, short(high)));
    return svg;
}

function timeline(events, end) {
    const lanes = [...new Set(events.map(event => event[0]))], width = 900, svg = shape('svg', { width, height: 24 * lanes.length + 16 });
    for (const [lane, name, start, duration] of events.slice(0, SHOWN_EVENTS)) {
        const hash = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
        const bar = shape('rect', { x: start / end * width, y: 24 * lanes.indexOf(lane), width: Math.max(1, duration / end * width), height: 20,
                                    fill: COLORS[hash % COLORS.length] });
        bar.append(shape('title', {}, name + ': ' + duration.toFixed(1) + ' µs'));
        svg.append(bar);
    }
    svg.append(shape('text', { x: width - 80, y: 24 * lanes.length + 12 }, short(end / 1000) + ' ms'));
    return svg;
}

// ---- what the tabs show

// Cards of the tags of a kind: each(tag, its runs, its description) gives some.
async function tagged(kind, each) {
    const tags = await ask(kind, 'tags'), found = new Map(), cards = [];
    for (const run of runs.filter(name => !hidden.has(name))) {
        for (const tag of Object.keys(tags[run] || {}).filter(name => name.includes(by('filter').value)))
            found.set(tag, [...found.get(tag) || [], run]);
    }
    for (const tag of [...found.keys()].sort())
        cards.push(...await each(tag, found.get(tag), tags[found.get(tag)[0]][tag].description));
    return cards;
}

// The same with a card per run.
function single(kind, fill) {
    return tagged(kind, (tag, list, about) => Promise.all(list.map(async run => {
        const made = card(tag + ' — ' + run, about);
        fill(made, await ask(kind, kind, { run, tag }), run, tag);
        return made;
    })));
}

function samples(kind, address, name) {
    return single(kind, (made, points, run, tag) => {
        const title = element('div'), place = element('div'), slider = element('input');
        const show = index => {
            title.textContent = 'step ' + points[index].step;
            place.replaceChildren();
            for (let sample = 0; sample < points[index].samples; sample++) {
                const node = element(name);
                node.controls = true;
                node.src = '/data/plugin/' + kind + '/' + address + '?' + new URLSearchParams({ run, tag, index, sample });
                place.append(node);
            }
        };
        slider.type = 'range';
        slider.max = slider.value = points.length - 1;
        slider.oninput = () => show(+slider.value);
        made.append(title, ...points.length > 1 ? [slider] : [], place);
        if (points.length)
            show(points.length - 1);
    });
}

const TABS = {
    scalars: () => tagged('scalars', async (tag, list, about) => {
        const lines = await Promise.all(list.map(async run => ({ run, color: color(run), points: finite(await ask('scalars', 'scalars', { run, tag })) })));
        const made = card(tag, about);
        made.append(chart(lines));
        return [made];
    }),
    images: () => samples('images', 'individualImage', 'img'),
    audio: () => samples('audio', 'individualAudio', 'audio'),
    histograms: () => single('histograms', (made, points) => made.append(ridges(points))),
    text: () => single('text', (made, points) => {
        for (const point of points.slice(-10).reverse())
            made.append(element('b', 'step ' + point.step), element('pre', point.text));
    }),
    async graphs() {
        const cards = [];
        for (const run of (await ask('graphs', 'runs')).filter(name => !hidden.has(name))) {
            const nodes = await ask('graphs', 'graph', { run }), made = card('Graph — ' + run, nodes.length + ' nodes'), groups = new Map();
            for (const node of nodes) {
                const scope = node[0].includes('/') ? node[0].split('/')[0] : '';
                groups.set(scope, [...groups.get(scope) || [], node]);
            }
            for (const [scope, list] of groups) {
                const part = element('details'), table = element('table');
                part.open = !scope || list.length < 20;
                table.append(...list.map(([name, op, inputs]) => row([name, op, inputs.join(', ')])));
                part.append(element('summary', (scope || '(top)') + ': ' + list.length), table);
                made.append(part);
            }
            cards.push(made);
        }
        return cards;
    },
    async profile() {
        const cards = [];
        for (const run of await ask('profile', 'runs')) {
            const events = await ask('profile', 'data', { run }), made = card(run), sums = new Map(), table = element('table');
            let end = 1;
            for (const [, name, start, duration] of events) {
                const [calls, total] = sums.get(name) || [0, 0];
                sums.set(name, [calls + 1, total + duration]);
                end = Math.max(end, start + duration);
            }
            table.append(row(['operation', 'calls', 'total µs', 'µs each'], 'th'));
            for (const [name, [calls, total]] of [...sums].sort((a, b) => b[1][1] - a[1][1]).slice(0, SHOWN_ROWS))
                table.append(row([name, String(calls), total.toFixed(1), (total / calls).toFixed(2)]));
            made.append(timeline(events, end), table);
            cards.push(made);
        }
        return cards;
    },
};

function choice(run) {
    const label = element('label'), box = element('input'), name = element('span', run);
    box.type = 'checkbox';
    box.checked = !hidden.has(run);
    box.onchange = () => {
        hidden[box.checked ? 'delete' : 'add'](run);
        draw();
    };
    name.style.color = color(run);
    label.append(box, name);
    return label;
}

function button(name) {
    const made = element('button', name[0].toUpperCase() + name.slice(1), name === tab ? 'on' : '');
    made.onclick = () => {
        tab = name;
        draw();
    };
    return made;
}

// Which files are damaged, and how much of them was passed over.
function tell(damaged) {
    const box = by('damage');
    box.hidden = !damaged.length;
    box.textContent = damaged.map(({ run, file, places, bytes }) => run + '/' + file + ' is damaged: at ' + places + (places === 1 ? ' place' : ' places') +
                                  ' records were passed over, ' + bytes + ' bytes.').join(' ');
}

async function draw() {
    const mine = ++turn; // a later drawing counts
    by('state').textContent = '…';
    try {
        const environment = await get('/data/environment');
        by('place').textContent = environment.data_location;
        tell(environment.damaged);
        runs = await get('/data/runs');
        by('runs').replaceChildren(...runs.map(choice));
        by('tabs').replaceChildren(...Object.keys(TABS).map(button));
        const cards = await TABS[tab]();
        if (mine !== turn)
            return;
        by('cards').replaceChildren(...cards.length ? cards : [card('There are no ' + tab + ' here.')]);
        by('state').textContent = new Date().toLocaleTimeString();
    } catch (error) {
        by('state').textContent = error.message;
    }
}

by('refresh').onclick = by('smooth').onchange = by('filter').onchange = draw;
setInterval(draw, RELOAD);
draw();
