// Where the nodes of a directed graph go: layers by the longest path, an order in each layer with few crossings, and lines through the layers.

const GAP = 26, RISE = 46, ROUNDS = 8;

// Layer of each node: one more than the highest of its sources. Edges that go back are ignored.
function layersOf(count, edges) {
    const targets = Array.from({ length: count }, () => []), incoming = new Array(count).fill(0), layer = new Array(count).fill(0), state = new Array(count).fill(0);
    const forward = [];
    const outgoing = Array.from({ length: count }, () => []);
    edges.forEach((edge, i) => outgoing[edge.a].push(i));
    for (let start = 0; start < count; start++) { // depth first, without recursion
        if (state[start])
            continue;
        const stack = [[start, 0]];
        state[start] = 1;
        while (stack.length) {
            const top = stack[stack.length - 1], next = outgoing[top[0]][top[1]++];
            if (next === undefined) {
                state[top[0]] = 2;
                stack.pop();
            } else {
                const { a, b } = edges[next];
                if (state[b] === 1)
                    continue;
                forward.push(next);
                targets[a].push(b);
                incoming[b]++;
                if (!state[b]) {
                    state[b] = 1;
                    stack.push([b, 0]);
                }
            }
        }
    }
    const ready = incoming.map((n, i) => n ? -1 : i).filter(i => i >= 0);
    for (let at = 0; at < ready.length; at++) {
        for (const b of targets[ready[at]]) {
            layer[b] = Math.max(layer[b], layer[ready[at]] + 1);
            if (!--incoming[b])
                ready.push(b);
        }
    }
    for (let i = count - 1; i >= 0; i--) { // sources stand near what they feed
        const node = ready[i];
        if (node !== undefined && targets[node].length && !edges.some(edge => edge.b === node))
            layer[node] = Math.max(layer[node], Math.min(...targets[node].map(b => layer[b])) - 1);
    }
    return layer;
}

// sizes: [{width, height}], edges: [{a, b}]. Gives {width, height, places: [[x, y]], points: [[[x, y], …] per edge]}.
export function layout(sizes, edges) {
    const layer = layersOf(sizes.length, edges), nodes = sizes.map((size, i) => ({ ...size, layer: layer[i] })), rows = [], chains = [];
    for (const { a, b } of edges) { // a long edge passes each layer at a place of its own
        const chain = [a], step = Math.sign(layer[b] - layer[a]) || 1;
        for (let k = layer[a] + step; k !== layer[b] && Math.abs(layer[b] - layer[a]) > 1 && nodes.length < 6000; k += step) {
            chain.push(nodes.length);
            nodes.push({ width: 8, height: 0, layer: k });
        }
        chain.push(b);
        chains.push(chain);
    }
    nodes.forEach((node, i) => (rows[node.layer] ||= []).push(i));
    const near = nodes.map(() => [[], []]);
    for (const chain of chains)
        for (let i = 1; i < chain.length; i++) {
            const [a, b] = nodes[chain[i - 1]].layer <= nodes[chain[i]].layer ? [chain[i - 1], chain[i]] : [chain[i], chain[i - 1]];
            near[a][1].push(b);
            near[b][0].push(a);
        }
    const order = new Array(nodes.length);
    const number = row => row.forEach((node, i) => order[node] = i);
    rows.forEach(number);
    for (let round = 0; round < ROUNDS; round++) {
        const down = round % 2 === 0;
        for (const row of down ? rows : [...rows].reverse()) {
            const weight = new Map(row.map(node => {
                const list = near[node][down ? 0 : 1];
                return [node, list.length ? list.reduce((sum, other) => sum + order[other] / rows[nodes[other].layer].length, 0) / list.length : order[node] / row.length];
            }));
            row.sort((p, q) => weight.get(p) - weight.get(q) || order[p] - order[q]);
            number(row);
        }
    }
    const x = new Array(nodes.length).fill(0);
    for (const row of rows) {
        let at = 0;
        for (const node of row) {
            x[node] = at + nodes[node].width / 2;
            at += nodes[node].width + GAP;
        }
        for (const node of row)
            x[node] -= (at - GAP) / 2;
    }
    for (let round = 0; round < ROUNDS; round++) { // towards their neighbours, as far as there is room
        for (const row of round % 2 ? rows : [...rows].reverse()) {
            const wanted = row.map(node => {
                const list = near[node][round % 2 ? 0 : 1].length ? near[node][round % 2 ? 0 : 1] : [...near[node][0], ...near[node][1]];
                return list.length ? list.reduce((sum, other) => sum + x[other], 0) / list.length : x[node];
            });
            const room = (p, q) => (nodes[p].width + nodes[q].width) / 2 + GAP, left = [], right = [];
            row.forEach((node, i) => left[i] = i ? Math.max(wanted[i], left[i - 1] + room(row[i - 1], node)) : wanted[i]);
            for (let i = row.length - 1; i >= 0; i--)
                right[i] = i === row.length - 1 ? wanted[i] : Math.min(wanted[i], right[i + 1] - room(row[i], row[i + 1]));
            row.forEach((node, i) => x[node] = (left[i] + right[i]) / 2);
            for (let i = 1; i < row.length; i++)
                x[row[i]] = Math.max(x[row[i]], x[row[i - 1]] + room(row[i - 1], row[i]));
        }
    }
    const least = nodes.reduce((low, node, i) => Math.min(low, x[i] - node.width / 2), Infinity), tops = [];
    let height = 0;
    rows.forEach((row, k) => {
        tops[k] = height;
        height += Math.max(...row.map(node => nodes[node].height)) + RISE;
    });
    height = Math.max(0, height - RISE);
    const places = sizes.map((size, i) => [x[i] - least - size.width / 2, tops[layer[i]]]);
    const width = nodes.reduce((high, node, i) => Math.max(high, x[i] - least + node.width / 2), 0);
    const points = chains.map(chain => chain.map((node, i) => {
        const top = tops[nodes[node].layer], up = nodes[chain[0]].layer > nodes[chain[chain.length - 1]].layer;
        const y = i === 0 ? up ? top : top + nodes[node].height : i === chain.length - 1 ? up ? top + nodes[node].height : top - 2 : top;
        return [Math.round(x[node] - least), Math.round(y)];
    }));
    return { width: Number.isFinite(width) ? width : 0, height, places, points };
}
