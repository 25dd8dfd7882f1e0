import fc from 'fast-check'

/**
 * Texts of any code points, halves of pairs among them. The unit of fast-check that is called binary takes a second to
 * make.
 */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
})

const { LEARNCTL_TEST_LENGTH: length, LEARNCTL_TEST_RUNS: runs } = process.env

/**
 * Returns the number of runs of a slow random test: `short` in `npm test`, `full` in `npm run test:full`, and
 * LEARNCTL_TEST_RUNS of them by hand. test/vitest.config.ts sets the seed.
 */
export function randomRuns(short: number, full: number): number {
  return Number(runs ?? (length === 'full' ? full : short))
}
