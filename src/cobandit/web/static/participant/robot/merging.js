// Merge many small shapes into one, because each shape costs a draw call.

/** @typedef {typeof import("three")} Three */
/** @typedef {import("three").BufferGeometry} Shape */

/**
 * Several shapes as one; corners that triangles share stay shared.
 * @param {Three} three
 * @param {Shape[]} shapes
 */
export function merged({ BufferAttribute, BufferGeometry }, shapes) {
  const starts = [0];
  for (const shape of shapes) starts.push(starts[starts.length - 1] + shape.getAttribute("position").count);
  const all = starts[shapes.length];
  const whole = new BufferGeometry();
  for (const name of /** @type {const} */ (["position", "normal"])) {
    const numbers = new Float32Array(3 * all);
    shapes.forEach((shape, i) => numbers.set(shape.getAttribute(name).array, 3 * starts[i]));
    whole.setAttribute(name, new BufferAttribute(numbers, 3));
  }
  const corners = new Uint32Array(shapes.reduce((sum, shape) => sum + (shape.index ?? shape.getAttribute("position")).count, 0));
  let at = 0;
  shapes.forEach(({ index }, i) => {
    const count = index ? index.count : starts[i + 1] - starts[i];
    for (let k = 0; k < count; k += 1) corners[at + k] = starts[i] + (index ? index.array[k] : k);
    at += count;
  });
  whole.setIndex(new BufferAttribute(corners, 1));
  return whole;
}
