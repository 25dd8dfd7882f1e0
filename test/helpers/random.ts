import fc from 'fast-check'

/**
 * Generates texts of any code points, unpaired surrogates included. fast-check's unit `binary` takes a second to
 * create.
 */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)),
})

const { LEARNCTL_TEST_LENGTH: length, LEARNCTL_TEST_RUNS: runs } = process.env

/**
 * Returns the number of runs of a random test: `short` in `npm test`, where all of them should take less than 50 ms,
 * `full` in `npm run test:full`, or LEARNCTL_TEST_RUNS. test/setup.ts sets the usual number and the seed.
 */
export function randomRuns(short: number, full: number): number {
  return Number(runs ?? (length === 'full' ? full : short))
}
