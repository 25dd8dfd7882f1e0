import * as crypto from 'node:crypto'
import * as net from 'node:net'
import { defineConfig, type Rolldown } from 'tsdown'
import { inventory } from './packaging/inventory.ts'

/**
 * Groups of files that are loaded together: each module named here with all that it imports statically, less what an
 * earlier group holds. All other files are grouped by the modules that import them.
 */
const groups = Object.entries({
  // The start of the program, how it ends, and help.
  start: /src\/cli\/(main|program\/(host|nouns))\.ts$/,
  // Parsing.
  program: /src\/cli\/program\/program\.ts$/,
  commands:
    /src\/cli\/(operation\/operation-command|commands\/(export|import|history|deletion|record-commands))\.ts$/,
  // Running an operation and printing its result.
  run: /src\/cli\/(command\/(context|resolve-times|run-command)|operation\/(run-operation|print-list)|session\/(open-caller|academy-file)|output\/formats\/delimited)\.ts$/,
  // A local academy.
  server: /src\/server\/(academy\/local-academy|database\/page)\.ts$/,
}).map(([name, test]) => ({ name, test }))

/** Modules that are plain data once evaluated. */
export const plainData = /\/src\/(contract\/(calls|empty-profile)|tables\/dictionary|cli\/flags\/[a-z]+)\.ts$/

/** Replaces modules that are plain data once evaluated by their values: what they import is not loaded. */
const evaluated: Rolldown.Plugin = {
  name: 'evaluated',
  load: async (id) =>
    plainData.test(id) ? { code: JSON.stringify(await import(id)), moduleType: 'json' } : null,
}

/**
 * Lets commander load `node:child_process`, which takes a fifth of the start, only for what learnctl never does: commands in
 * other files. Its other modules of Node are taken as they are: an import copies each of their members.
 */
const commanderBuiltins: Rolldown.Plugin = {
  name: 'commander-builtins',
  transform: (code, id) =>
    /\/commander\/lib\/\w+\.js$/.test(id)
      ? code
          .replace(
            "import childProcess from 'node:child_process';",
            "const childProcess = { spawn: (...words) => process.getBuiltinModule('node:child_process').spawn(...words) };",
          )
          .replace("import process from 'node:process';", '')
          .replace(/^import (\w+) from '(node:\w+)';$/gm, "const $1 = process.getBuiltinModule('$2');")
      : null,
}

const lazyModules: Readonly<Record<string, object>> = { 'node:crypto': crypto, 'node:net': net }

/**
 * Lets modules of Node that take a quarter of an empty program's start load when one of their functions is first called: a list
 * of a local academy calls none.
 */
const lazyBuiltins: Rolldown.Plugin = {
  name: 'lazy-builtins',
  resolveId: (id, importer) => (lazyModules[id] && importer?.includes('/src/') ? `\0lazy-${id}` : null),
  load(id) {
    const name = id.replace('\0lazy-', '')
    const members = id === name ? undefined : lazyModules[name]
    if (!members) return null
    return [
      `let loaded; const builtin = () => (loaded ??= process.getBuiltinModule('${name}'));`,
      ...Object.entries(members)
        .filter(([, value]) => typeof value === 'function')
        .map(
          ([member]) => `export function ${member}(...values) {
            return new.target ? new (builtin().${member})(...values) : builtin().${member}(...values) }`,
        ),
    ].join('\n')
  },
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
    plugins: [evaluated, commanderBuiltins, lazyBuiltins, inventory],
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
