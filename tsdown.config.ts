import { defineConfig, type Rolldown } from 'tsdown'

/** Which folders are loaded together, one chunk for each: what a command needs arrives in few files, and no more. */
export const chunks = [
  {
    // The values of the contract, with zod, which takes the longest: where an academy in this process answers.
    name: 'schema',
    test: /src\/(contract\/(field|issue-words|page|patch|batch|operation|course-attributes))\.ts|node_modules\/zod\//,
  },
  {
    // Everything up to the point where a command runs: parsing, and help.
    name: 'program',
    test: /src\/(cli\/(main\.ts|program\/|command\/(?!context|resolve-times|time-zone)|operation\/(operation-command|operation-flags|field-path|thing-name)|help\/help-text|terminal\/(counted|errors|exit-codes|io|two-columns|visible)|output\/columns|session\/(database-fault|session)\.ts)|config\/(setting|errors|setting-value)\.ts|contract\/(version|page-size)\.ts|codec\/(database-url|json-object|json-text|reference-list|shell-word|time-text)\.ts|client\/(member|nouns)\.ts)|node_modules\/commander\/|(?<!node_modules\/.*)\/package\.json$/,
  },
  {
    // What holds a platform elsewhere to what it was asked for.
    name: 'elsewhere',
    test: /src\/(cli\/operation\/(missing-columns|platform-(filter|order)|settle-write|shown-things|written-fields)|client\/(filter|order)-check)\.ts/,
  },
  // The contract as plain data.
  { name: 'calls', test: /src\/(contract\/calls|cli\/operation\/operations)\.ts/ },
  {
    // What every run needs to reach an academy and to print what it answers; nothing in it needs zod.
    name: 'run',
    test: /src\/(cli\/(command\/(context|resolve-times|time-zone)|operation\/(?!operation-command|operation-flags|field-path|thing-name|api-fields|json-fault|problem-lines|yaml-document)|output\/(asked|output|mask|value-shape|formats\/(format|json|tsv))|session\/|terminal\/(prompts|colour|exact-text|mask-known|text-input))|auth\/(errors|tokens|token-source)|codec\/(credential-text|grouped|nearest|reference\.|unicode-text)|config\/|contract\/(errors|oauth)|client\/(?!undici|network|wire-fault|client\.ts|member|nouns))/,
  },
  { name: 'network', test: /src\/client\/(network|undici|wire-fault)\.ts/ },
  {
    // What only an academy on PostgreSQL needs.
    name: 'postgres',
    test: /src\/server\/database\/postgres\/|node_modules\/(pg|pg-[a-z0-9-]+|pgpass|postgres-[a-z]+|split2|xtend)\//,
  },
  {
    name: 'server',
    test: /src\/server\/(academy|routes|local|counters\/|http\/|problem\/|access\/(?!first-admin|password\.|common-password)|database\/(?!postgres\/))|node_modules\/(hono\/dist\/(?!jsx|helper\/html)|sql-template-tag\/)/,
  },
  { name: 'courses', test: /src\/server\/courses\/course/ },
]

/**
 * Node's own modules as they are, instead of by `import`: that reads every export once, and some of them load much more
 * when they are read (`node:http` all of undici, `node:util` the worker threads, `node:fs` its promises).
 */
const plainBuiltins: Rolldown.Plugin = {
  name: 'plain-builtins',
  renderChunk(code) {
    let text = ''
    let end = 0
    for (const node of this.parse(code).body) {
      if (node.type !== 'ImportDeclaration' || !node.source.value.startsWith('node:')) continue
      const module = `globalThis.process.getBuiltinModule('${node.source.value}')`
      const names = node.specifiers.flatMap((each) => {
        if (each.type !== 'ImportSpecifier') return []
        const imported = each.imported.type === 'Identifier' ? each.imported.name : each.imported.value
        return [`${imported}:${each.local.name}`]
      })
      const whole = node.specifiers.flatMap((each) =>
        each.type === 'ImportSpecifier' ? [] : [each.local.name],
      )
      const parts = [...whole, ...(names.length > 0 ? [`{${names.join(',')}}`] : [])]
      text += code.slice(end, node.start) + parts.map((part) => `const ${part}=${module};`).join('')
      end = node.end
    }
    return text + code.slice(end)
  },
}

/** The contract as its callers see it is plain data, which needs none of the schemas that it is made from. */
const evaluatedCalls: Rolldown.Plugin = {
  name: 'evaluated-calls',
  async load(id) {
    if (!id.endsWith('/src/contract/calls.ts')) return null
    const { calls } = await import('./src/contract/calls.ts')
    return `export const calls = ${JSON.stringify(calls)}`
  },
}

const common = {
  format: 'esm',
  platform: 'node',
  target: 'node24',
  fixedExtension: false,
  minify: true,
  report: false,
  deps: { onlyBundle: false },
  // The driver for PostgreSQL would look for a binding to libpq, which is not bundled.
  define: { 'process.env.NODE_PG_FORCE_NATIVE': 'undefined' },
} as const

/** The program in dist, and the library learnctl/client in dist/library. */
export default defineConfig([
  {
    ...common,
    // A thread of the server and a process of its own begin at their own files, beside the chunks that start them.
    entry: {
      main: 'src/cli/main.ts',
      'cli/chunks/reader-thread': 'src/server/long-reads/reader-thread.ts',
      'cli/chunks/upgrade-process': 'src/server/upgrade/upgrade-process.ts',
    },
    dts: false,
    plugins: [evaluatedCalls, plainBuiltins],
    copy: ['src/examples', 'src/common-passwords'].map((from) => ({ from, to: 'dist' })),
    outputOptions: {
      // As deep as the sources, so that src/cli/quickstart and its chunk find the examples by one path.
      chunkFileNames: 'cli/chunks/[name]-[hash].js',
      codeSplitting: { includeDependenciesRecursively: false, groups: chunks },
    },
  },
  { ...common, entry: { client: 'src/client/client.ts' }, dts: true, outDir: 'dist/library' },
])
