import fc from 'fast-check'

// Runs before each test file, see vitest.config.ts. A failure prints the seed and the path of its counterexample.
fc.configureGlobal({
  seed: Number(process.env['LEARNCTL_TEST_SEED']),
  numRuns: process.env['LEARNCTL_TEST_LENGTH'] === 'full' ? 100 : 25,
})
