const { LEARNCTL_TEST_LENGTH: length, LEARNCTL_TEST_RUNS: runs } = process.env

/**
 * Returns the number of runs of a slow random test: `short` in `npm test`, `full` in `npm run test:full`, and
 * LEARNCTL_TEST_RUNS of them by hand. test/vitest.config.ts sets the seed.
 */
export function randomRuns(short: number, full: number): number {
  return Number(runs ?? (length === 'full' ? full : short))
}
