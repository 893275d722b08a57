// A worker: points of many dimensions in few ones, by principal components or by t-SNE (exact, with momentum and gains).

function centered({ numbers, count, columns }) {
    const out = Array.from({ length: count }, (_, i) => Float64Array.from(numbers.subarray(i * columns, (i + 1) * columns)));
    for (let k = 0; k < columns; k++) {
        const mean = out.reduce((sum, row) => sum + row[k], 0) / (count || 1);
        for (const row of out)
            row[k] -= mean;
    }
    return out;
}

// The first principal components by power iteration, one after the other.
function components(rows, columns, dims) {
    const found = [];
    let total = 0;
    for (const row of rows)
        for (const value of row)
            total += value * value;
    const share = [];
    for (let d = 0; d < Math.min(dims, columns); d++) {
        let axis = Float64Array.from({ length: columns }, (_, k) => Math.sin(1 + k * (d + 1.7)));
        let size = 0;
        for (let round = 0; round < 200; round++) {
            const next = new Float64Array(columns);
            for (const row of rows) {
                let dot = 0;
                for (let k = 0; k < columns; k++)
                    dot += row[k] * axis[k];
                for (let k = 0; k < columns; k++)
                    next[k] += dot * row[k];
            }
            for (const [other] of found) {
                let dot = 0;
                for (let k = 0; k < columns; k++)
                    dot += next[k] * other[k];
                for (let k = 0; k < columns; k++)
                    next[k] -= dot * other[k];
            }
            size = Math.hypot(...next);
            if (!(size > 1e-300))
                break;
            let change = 0;
            for (let k = 0; k < columns; k++) {
                next[k] /= size;
                change += (next[k] - axis[k]) ** 2;
            }
            axis = next;
            if (change < 1e-18)
                break;
        }
        found.push([axis]);
        share.push(total ? size / total : 0);
    }
    return { points: rows.map(row => found.map(([axis]) => row.reduce((sum, value, k) => sum + value * axis[k], 0))), share };
}

// Probabilities of neighbours: each point's width is searched for the perplexity.
function affinities(rows, perplexity) {
    const n = rows.length, p = new Float64Array(n * n), target = Math.log(Math.max(2, Math.min(perplexity, (n - 1) / 3)));
    for (let i = 0; i < n; i++) {
        const far = new Float64Array(n);
        for (let j = 0; j < n; j++)
            for (let k = 0; k < rows[i].length; k++)
                far[j] += (rows[i][k] - rows[j][k]) ** 2;
        let beta = 1, low = 0, high = Infinity;
        for (let round = 0; round < 60; round++) {
            let sum = 0, weighted = 0;
            for (let j = 0; j < n; j++) {
                const value = j === i ? 0 : Math.exp(-far[j] * beta);
                p[i * n + j] = value;
                sum += value;
                weighted += value * far[j];
            }
            sum ||= 1e-300;
            const entropy = Math.log(sum) + beta * weighted / sum;
            for (let j = 0; j < n; j++)
                p[i * n + j] /= sum;
            if (Math.abs(entropy - target) < 1e-5)
                break;
            if (entropy > target) {
                low = beta;
                beta = high === Infinity ? beta * 2 : (beta + high) / 2;
            } else {
                high = beta;
                beta = (beta + low) / 2;
            }
        }
    }
    const joint = new Float64Array(n * n);
    for (let i = 0; i < n; i++)
        for (let j = 0; j < n; j++)
            joint[i * n + j] = Math.max((p[i * n + j] + p[j * n + i]) / (2 * n), 1e-12);
    return joint;
}

function tsne(rows, start, dims, perplexity, rounds, tell) {
    const n = rows.length, p = affinities(rows, perplexity), y = new Float64Array(n * dims), speed = new Float64Array(n * dims), gains = new Float64Array(n * dims).fill(1), q = new Float64Array(n * n);
    let scale = 0;
    for (const point of start)
        scale = Math.max(scale, Math.hypot(...point));
    for (let i = 0; i < n; i++)
        for (let d = 0; d < dims; d++)
            y[i * dims + d] = (start[i][d] || 0) / (scale || 1) * 1e-2 + 1e-4 * Math.sin(i * 12.9898 + d * 78.233);
    for (let round = 1; round <= rounds; round++) {
        let sum = 0;
        for (let i = 0; i < n; i++)
            for (let j = i + 1; j < n; j++) {
                let far = 0;
                for (let d = 0; d < dims; d++)
                    far += (y[i * dims + d] - y[j * dims + d]) ** 2;
                sum += 2 * (q[i * n + j] = q[j * n + i] = 1 / (1 + far));
            }
        const early = round < 120 ? 4 : 1, momentum = round < 200 ? .5 : .8, rate = Math.max(10, n / 12);
        for (let i = 0; i < n; i++)
            for (let d = 0; d < dims; d++) {
                let slope = 0;
                for (let j = 0; j < n; j++)
                    slope += 4 * (early * p[i * n + j] - q[i * n + j] / sum) * q[i * n + j] * (y[i * dims + d] - y[j * dims + d]);
                const at = i * dims + d;
                gains[at] = Math.max(.01, Math.sign(slope) === Math.sign(speed[at]) ? gains[at] * .8 : gains[at] + .2);
                speed[at] = momentum * speed[at] - rate * gains[at] * slope;
            }
        for (let at = 0; at < y.length; at++)
            y[at] += speed[at];
        if (round % 20 === 0 || round === rounds)
            tell(Array.from({ length: n }, (_, i) => [...y.subarray(i * dims, (i + 1) * dims)]), round);
    }
}

self.onmessage = ({ data: asked }) => {
    const rows = centered(asked), { points, share } = components(rows, asked.columns, asked.dims), most = 1500;
    if (asked.method !== 'tsne') {
        self.postMessage({ points, text: 'PCA: ' + (100 * share.reduce((a, b) => a + b, 0)).toFixed(1) + ' % of the variance.' });
        return;
    }
    const wide = components(rows, asked.columns, Math.min(50, asked.columns)).points.slice(0, most);
    tsne(asked.columns > 50 ? wide : rows.slice(0, most), points.slice(0, most), asked.dims, asked.perplexity, asked.rounds,
         (found, round) => self.postMessage({ points: found, text: 't-SNE' + (rows.length > most ? ' of the first ' + most : '') + ': round ' + round + ' of ' + asked.rounds + '.' }));
};
