import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../src')

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .sort()
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    // Strings are kept: they may hold what looks like a comment.
    const code = text.replace(/('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/.*/g, '$1')
    return { path, code, lines: text.trimEnd().split('\n') }
  })

test('no file of src is longer than 400 lines', () => {
  const long = sources.filter(({ lines }) => lines.length > 400)
  expect(long.map(({ path, lines }) => `${path}: ${lines.length}`)).toEqual([])
})

test('files and folders have names of their own, in kebab-case', () => {
  const names = new Set(sources.flatMap(({ path }) => path.replace(/(\.d)?\.tsx?$/, '').split('/')))
  const odd = [...names].filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))
  const dumps = [...names].filter((name) => /^(utils?|helpers?|common|types|misc|shared)$/.test(name))
  expect([...odd, ...dumps]).toEqual([])
})

test('every export says what it is, by its comment or by itself', () => {
  const silent = sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => {
      const name =
        /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/.exec(
          line,
        )?.[1]
      const before = lines[index - 1] ?? ''
      return name === undefined || before.endsWith('*/') || saysItself(line) ? [] : [`${path}: ${name}`]
    }),
  )
  expect(silent).toEqual([])
})

/**
 * True for an export that needs no comment because its name and value describe it: a type made from a value, a union of
 * names, a schema, its words, a list of choices, and the routes of a resource.
 */
function saysItself(line: string): boolean {
  return (
    /^export type \w+ = (.*\btypeof (\w+)|('[\w]+' \| )+'\w+'$)/.test(line) ||
    /^export const (\w+Words = \{|\w+ = (z$|z\.|\[|[A-Z]\w*\.|(named|sent|shown|patchOf|optional)\(|routesOf\(|plainRoutesOf<))/.test(
      line,
    )
  )
}

test('a document that src names is in the repository', { tags: ['slow'] }, () => {
  const missing = sources.flatMap(({ path, lines }) =>
    [...lines.join('\n').matchAll(/[\w./-]+\.md\b/g)].flatMap(([name]) =>
      existsSync(join(root, '..', name)) ? [] : [`${path}: ${name}`],
    ),
  )
  expect(missing).toEqual([])
})

test('types are known, and erasable', () => {
  const wrong = sources.flatMap(({ path, code }) =>
    [
      ...code.matchAll(
        /(?::|\bas|<|\|) any\b|<any\b|\bany\[\]|^\s*(?:export |declare )*(?:enum|namespace) \w+/gm,
      ),
    ].map(([text]) => `${path}: ${text.trim()}`),
  )
  expect(wrong).toEqual([])
})
