/** Returns the rows of a table whose tests are slow: the first in `npm test`, all in `npm run test:full`. */
export function slowRows<const Rows extends readonly unknown[]>(rows: Rows): readonly Rows[number][] {
  return process.env['LEARNCTL_TEST_LENGTH'] === 'full' ? rows : rows.slice(0, 1)
}
