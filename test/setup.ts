import './helpers/module-hooks.ts'
import fc from 'fast-check'
import { randomRuns } from './helpers/random.ts'

// Runs before each test file, see vitest.config.ts; what it imports runs once in a worker.

// A failure prints the seed and the path of its counterexample.
fc.configureGlobal({
  seed: Number(process.env['LEARNCTL_TEST_SEED']),
  numRuns: randomRuns(25, 100),
})
