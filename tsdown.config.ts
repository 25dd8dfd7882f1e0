import { defineConfig, type Rolldown } from 'tsdown'
import { inventory } from './packaging/inventory.ts'

/**
 * Groups of files that are loaded together: each module named here with all that it imports statically, less what an
 * earlier group holds. All other files are grouped by the modules that import them.
 */
const groups = Object.entries({
  // The start of the program, and how it ends.
  start: /src\/cli\/main\.ts$/,
  // Help.
  help: /src\/cli\/program\/(host|nouns)\.ts$/,
  // Parsing.
  program: /src\/cli\/program\/program\.ts$/,
  commands:
    /src\/cli\/(operation\/operation-command|commands\/(export|import|history|deletion|record-commands))\.ts$/,
  // Running an operation and printing its result.
  run: /src\/cli\/(command\/(context|resolve-times)|operation\/(run-operation|print-list)|session\/open-caller)\.ts$/,
  // A local academy.
  server: /src\/server\/academy\/local-academy\.ts$/,
}).map(([name, test]) => ({ name, test }))

/** Modules that are plain data once evaluated. */
export const plainData =
  /\/src\/(contract\/(calls|empty-profile)|tables\/(?:dictionary|dataset-tables)|cli\/flags\/[a-z]+)\.ts$/

/** Replaces modules that are plain data once evaluated by their values: what they import is not loaded. */
const evaluated: Rolldown.Plugin = {
  name: 'evaluated',
  load: async (id) =>
    plainData.test(id) ? { code: JSON.stringify(await import(id)), moduleType: 'json' } : null,
}

/** Lets commander load `node:child_process`, which takes a fifth of the start, only for what learnctl never does: commands in other files. */
const lazyChildProcess: Rolldown.Plugin = {
  name: 'lazy-child-process',
  transform: (code, id) =>
    id.endsWith('/commander/lib/command.js')
      ? code.replace(
          "import childProcess from 'node:child_process';",
          "const childProcess = { spawn: (...words) => process.getBuiltinModule('node:child_process').spawn(...words) };",
        )
      : null,
}

const common = {
  platform: 'node',
  target: 'node24',
  minify: true,
  report: false,
  deps: { onlyBundle: false },
  // The driver for PostgreSQL would look for a binding to libpq, which is not bundled.
  define: { 'process.env.NODE_PG_FORCE_NATIVE': 'undefined' },
} as const

/** Replaces the academy of learnctl/testing by that of the program, so that the package has it once. */
const academyOfProgram: Rolldown.Plugin = {
  name: 'academy-of-program',
  load: (id) =>
    id.endsWith('/src/testing/temporary-academy.ts')
      ? `import { createRequire } from 'node:module'
         export const { createTemporaryAcademy } = createRequire(import.meta.url)('../cli/chunks/temporary-academy.cjs')`
      : null,
}

/** The program in dist, and the libraries learnctl/client and learnctl/testing in dist/library. */
export default defineConfig([
  {
    ...common,
    // CommonJS: to import one of Node's own modules reads every export of it, which takes ten times as long as require.
    format: 'cjs',
    entry: {
      main: 'src/cli/main.ts',
      'cli/chunks/reader-thread': 'src/server/long-reads/reader-thread.ts',
      'cli/chunks/upgrade-process': 'src/server/academy/upgrade-process.ts',
      'cli/chunks/temporary-academy': 'src/testing/temporary-academy.ts',
    },
    dts: false,
    plugins: [evaluated, lazyChildProcess, inventory],
    copy: ['src/examples', 'src/common-passwords'].map((from) => ({ from, to: 'dist' })),
    outputOptions: {
      chunkFileNames: 'cli/chunks/[name]-[hash].cjs',
      codeSplitting: { groups },
    },
  },
  {
    ...common,
    format: 'esm',
    // Node prints the line of an error that is not caught: minified, that is the whole file.
    minify: false,
    fixedExtension: false,
    entry: { client: 'src/client/client.ts', testing: 'src/testing/testing.ts' },
    dts: true,
    plugins: [academyOfProgram],
    outDir: 'dist/library',
    outputOptions: { comments: false },
  },
])
