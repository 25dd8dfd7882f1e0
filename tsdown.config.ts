import crypto from 'node:crypto'
import { basename } from 'node:path'
import { defineConfig, type Rolldown } from 'tsdown'

/** Which folders are loaded together, one chunk for each: what a command needs arrives in few files, and no more. */
export const chunks = [
  {
    // The values of the contract and what judges by them, with zod, which takes the longest.
    name: 'schema',
    test: /src\/(contract\/(field|issue-words|page|patch|batch|operation|course-attributes)|server\/http\/(batch|schema-routes|validation))\.ts|node_modules\/zod\//,
  },
  {
    // Everything up to the point where a command runs: parsing, and help.
    name: 'program',
    test: /src\/(cli\/(main\.ts|program\/|commands\/(deleted-list|deletion|export|history|import)\.ts|export\/export-(flags|form)\.ts|command\/(?!context|resolve-times)|operation\/(operation-command|operation-flags|field-path|thing-name)|help\/help-text|terminal\/(counted|errors|exit-codes|io|two-columns)|output\/columns|session\/(database-fault|session)\.ts)|config\/(setting|errors|setting-value)\.ts|contract\/(version|page-size)\.ts|codec\/(database-url|json-object|json-text|reference-list|shell-word|time-text|visible)\.ts|client\/(member|nouns)\.ts)|node_modules\/commander\/|(?<!node_modules\/.*)\/package\.json$/,
  },
  {
    // What holds a platform elsewhere to what it was asked for.
    name: 'elsewhere',
    test: /src\/(cli\/operation\/(missing-columns|platform-(filter|order)|published-api|several-references|settle-write|shown-things|written-fields)|client\/(filter|order)-check)\.ts/,
  },
  // What may follow on a line that is being typed: asked for at every key.
  { name: 'complete', test: /src\/cli\/completion\/(?!find-things)/ },
  // The contract as plain data.
  { name: 'calls', test: /src\/(contract\/(calls|empty-profile)|cli\/operation\/operations)\.ts/ },
  {
    // What every run needs to reach an academy and to print what it answers; nothing in it needs zod.
    name: 'run',
    test: /src\/(cli\/(command\/(context|resolve-times)|operation\/(?!operation-command|operation-flags|field-path|thing-name|api-fields|existing|find-named|given-ids|in-order|json-fault|placed-document|problem-lines|published-api|run-several|several-references|sure-pages|yaml-document)|output\/(asked|output|mask|value-shape|formats\/(format|json|tsv))|session\/(?!pacing)|terminal\/(prompts|colour|exact-text|mask-known|text-input))|auth\/(errors|tokens|token-source)|codec\/(credential-text|grouped|nearest|reference\.|time-zone|unicode-text)|config\/|contract\/(errors|oauth)|client\/(?!undici|network|wire-fault|client\.ts|member|nouns))/,
  },
  { name: 'network', test: /src\/client\/(network|undici|wire-fault)\.ts/ },
  {
    // What only an academy on PostgreSQL needs.
    name: 'postgres',
    test: /src\/server\/database\/postgres\/|node_modules\/(pg|pg-[a-z0-9-]+|pgpass|postgres-[a-z]+|split2|xtend)\//,
  },
  {
    name: 'server',
    test: /src\/(codec\/json-fault|server\/(academy|routes|local|counters\/|sealing\/|outgoing\/outgoing-when-needed|http\/(?!refusal\.)|problem\/|access\/(?!shown-credential|password\.|common-password)|database\/(?!postgres\/)|webhooks\/inbox\/inbox-endpoint))|node_modules\/(hono\/dist\/(?!jsx|helper\/html)|sql-template-tag\/)/,
  },
  { name: 'courses', test: /src\/(server\/courses\/course-(reads|row|filters)|contract\/course-choices)/ },
  { name: 'users', test: /src\/(server\/users\/user-(reads|row)|contract\/user-choices)/ },
  { name: 'progress', test: /src\/server\/progress\/progress-(reads|row)/ },
  { name: 'course-writes', test: /src\/server\/courses\/course/ },
]

/**
 * Node's own modules as they are, instead of by `import`: that reads every export once, and some of them load much more
 * when they are read (`node:http` all of undici, `node:util` the worker threads, `node:fs` its promises). The functions of
 * `node:crypto`, which takes longest by itself and which no list needs, are looked up when the first of them is called.
 */
const plainBuiltins: Rolldown.Plugin = {
  name: 'plain-builtins',
  renderChunk(code) {
    let text = ''
    let end = 0
    for (const node of this.parse(code).body) {
      if (node.type !== 'ImportDeclaration' || !node.source.value.startsWith('node:')) continue
      const module = `globalThis.process.getBuiltinModule('${node.source.value}')`
      const isLate = node.source.value === 'node:crypto'
      const late: string[] = []
      const names = node.specifiers.flatMap((each) => {
        if (each.type !== 'ImportSpecifier') return []
        const imported = each.imported.type === 'Identifier' ? each.imported.name : each.imported.value
        if (
          isLate &&
          /^[a-z]/.test(imported) &&
          typeof crypto[imported as keyof typeof crypto] === 'function'
        ) {
          const { name } = each.local
          late.push(
            `let late$${name};const ${name}=(...all)=>(late$${name}??=${module}.${imported})(...all);`,
          )
          return []
        }
        return [`${imported}:${each.local.name}`]
      })
      const whole = node.specifiers.flatMap((each) =>
        each.type === 'ImportSpecifier' ? [] : [each.local.name],
      )
      const parts = [...whole, ...(names.length > 0 ? [`{${names.join(',')}}`] : [])]
      const read = parts.map((part) => `const ${part}=${module};`)
      text += code.slice(end, node.start) + [...read, ...late].join('')
      end = node.end
    }
    return text + code.slice(end)
  },
}

/**
 * A command of ours is never a program of its own, which commander could start: what that takes stays unloaded.
 */
const noChildPrograms: Rolldown.Plugin = {
  name: 'no-child-programs',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('/node_modules/commander/') ? noPrograms : null,
  load: (id) => (id === noPrograms ? 'export default {}' : null),
}
const noPrograms = '\0no-programs'

/** What is plain data in the end needs none of the schemas that it is made from, such as the contract for its callers. */
const evaluated: Rolldown.Plugin = {
  name: 'evaluated',
  async load(id) {
    if (!/\/src\/contract\/(calls|empty-profile)\.ts$/.test(id)) return null
    const values: Readonly<Record<string, unknown>> = await import(id)
    const named = Object.entries(values).map(
      ([name, value]) => `export const ${name} = ${JSON.stringify(value)}`,
    )
    return named.join('\n')
  },
}

const reexport = /^export ?\{([^}]*)\} ?from ?["'`](\.\/[^"'`]+)["'`];?\s*$/

/**
 * A module that is imported when needed and stands in a chunk with others gets a file of its own that re-exports it: one
 * more to find, read and link in each run. The import asks the chunk itself instead.
 */
const noFacades: Rolldown.Plugin = {
  name: 'no-facades',
  generateBundle(_, bundle) {
    const facades = new Map<string, string>()
    for (const [path, chunk] of Object.entries(bundle)) {
      const [, names, from] = (chunk.type === 'chunk' && !chunk.isEntry && reexport.exec(chunk.code)) || []
      if (names === undefined || from === undefined) continue
      const parts = names.split(',').map((name) => name.split(' as '))
      const taken = parts.map(([inner, outer = inner]) => `${outer}:m.${inner}`)
      facades.set(basename(path), `import("${from}").then(m=>({${taken}}))`)
      delete bundle[path]
    }
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      chunk.code = chunk.code.replaceAll(
        /\bimport\(["'`]\.\/(?:cli\/chunks\/)?([^"'`]+)["'`]\)/g,
        (whole, name: string) => facades.get(name) ?? whole,
      )
    }
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
    plugins: [evaluated, noChildPrograms, plainBuiltins, noFacades],
    copy: ['src/examples', 'src/common-passwords'].map((from) => ({ from, to: 'dist' })),
    outputOptions: {
      // As deep as the sources, so that src/cli/quickstart and its chunk find the examples by one path.
      chunkFileNames: 'cli/chunks/[name]-[hash].js',
      codeSplitting: { includeDependenciesRecursively: false, groups: chunks },
    },
  },
  { ...common, entry: { client: 'src/client/client.ts' }, dts: true, outDir: 'dist/library' },
])
