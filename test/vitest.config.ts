import { randomInt } from 'node:crypto'
import { defineConfig, type TestProjectInlineConfiguration, type TestTagDefinition } from 'vitest/config'
import { executable } from './executable/build.ts'

/**
 * Length of random tests. `LEARNCTL_TEST_LENGTH=full` runs each at full length with a new seed, as `.ci/run` does; otherwise they
 * are short and the same in every run. `LEARNCTL_TEST_SEED` repeats a run.
 */
const isFull = process.env['LEARNCTL_TEST_LENGTH'] === 'full'
process.env['LEARNCTL_TEST_SEED'] ??= String(isFull ? randomInt(2 ** 31) : 20_261)
if (isFull) console.log(`Random tests: LEARNCTL_TEST_SEED=${process.env['LEARNCTL_TEST_SEED']}`)

/** Tests that start programs and stop them by signals. */
const processes = '**/*.process.test.ts'
/** Tests of the server that are about SQLite, or open their own databases. */
const onlySqlite = '**/*.sqlite.test.ts'
/** Tests of processes that run through the single-file executable as well. */
const throughExecutable = ['bin.process.test.ts', 'cli/streams.process.test.ts']
/** Folders of tests with packages of their own: each has a package.json. */
const withPackages = ['foreign', 'browser', 'generators']
/** Tests of bytes, requests, forms and pages, which read and write as the API does: one database shows as much as another. */
const beforeStorage = [
  'server/dashboard/**',
  'server/{socket,outgoing}/**',
  'server/http/{json,log,network,request-body,router}.test.ts',
  'server/oauth/redirect-uri.test.ts',
  'server/{oauth,dashboard}/slow-form.test.ts',
  'contract/{openapi,document-examples,field,filters}.test.ts',
]

function project(name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      dir: 'test',
      setupFiles: ['test/setup.ts'],
      pool: 'threads',
      isolate: false,
      // Node loads the sources itself, which takes a third of the time of transforming them.
      experimental: { viteModuleRunner: false },
      // Timeouts for a busy machine: they end a test that hangs, not a slow one.
      testTimeout: 180_000,
      hookTimeout: 180_000,
      expect: { poll: { timeout: 60_000, interval: 5 } },
      ...test,
    },
  }
}

/** Tests that start programs. */
function startingPrograms(
  name: string,
  include: string[],
  more: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return project(name, { include, sequence: { groupOrder: 1 }, ...more })
}

/** The server's tests with each academy on PostgreSQL, where there is one: `.ci/postgres` runs a command beside one. */
const postgres = project('postgres', {
  include: ['server/**/*.test.ts', 'contract/**/*.test.ts'],
  exclude: [onlySqlite, processes, ...beforeStorage],
  env: { LEARNCTL_TEST_ENGINE: 'postgres' },
  sequence: { groupOrder: 2 },
})

/**
 * A test that takes 50 ms or more on an idle machine has this tag, unless it is the one quick case of its behaviour: `npm test` leaves
 * it out, `npm run test:full` runs it. `slow-tests.ts` names tests that should have it.
 */
const tags: TestTagDefinition[] = [{ name: 'slow', description: 'takes 50 ms or more' }]

export default defineConfig({
  test: {
    tags,
    maxWorkers: '100%',
    slowTestThreshold: 300,
    reporters: ['default', './test/slow-tests.ts'],
    projects: [
      project('learnctl', {
        include: ['**/*.test.ts'],
        exclude: [processes, 'executable/**', ...withPackages.map((folder) => `${folder}/**`)],
      }),
      startingPrograms('processes', [processes]),
      startingPrograms('executable', ['executable/**/*.test.ts', ...throughExecutable], {
        globalSetup: 'test/executable/build.ts',
        env: { LEARNCTL_TEST_EXECUTABLE: executable },
      }),
      // Some packages and generated clients import folders and names without extension, which Node does not resolve.
      ...withPackages.map((folder) =>
        startingPrograms(folder, [`${folder}/**/*.test.ts`], { experimental: { viteModuleRunner: true } }),
      ),
      ...(process.env['LEARNCTL_TEST_POSTGRES'] ? [postgres] : []),
    ],
  },
})
