// What the pages of participants and of researchers both know about the seats of a team.

/** Every choice of all seats but one, whose place holds -1; the last seat changes first.
 * @param {number[]} arms how many arms each seat has
 * @param {number} seat
 * @returns {number[][]} */
export const combinations = (arms, seat) => arms.reduce(
  (/** @type {number[][]} */ rows, count, i) => rows.flatMap((row) =>
    (i === seat ? [-1] : Array.from({ length: count }, (_, arm) => arm)).map((arm) => [...row, arm])), [[]]);
