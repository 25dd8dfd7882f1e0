import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { programHelp } from '../src/cli/help/help-text.ts'
import { learnerFields } from '../src/contract/learner-row.ts'
import { manual, platformSchema, skill, textOf, withReference } from './docs.ts'
import { root } from './helpers/process.ts'

// Tests of README.md and docs; manual.process.test.ts runs their commands.

test('the JSON Schema of platform files is the one of the program: npm run docs', () => {
  expect(textOf(platformSchema.file)).toBe(platformSchema.text)
})

test.for(manual)('the reference in %s is the one that the commands make: npm run docs', async (file) => {
  expect(textOf(file)).toBe(await withReference(file))
})

/** All pages but the reference, whose examples are those of help. */
const pages = manual.filter((file) => file !== 'docs/commands.md')

describe('what stands in it', () => {
  test('begins as help does, and as the package is described', () => {
    const { description } = JSON.parse(textOf('package.json'))
    const [, opening = ''] = textOf('README.md').split('\n\n')
    expect(opening.replaceAll('\n', ' ')).toContain(`${description}.`)
    expect(programHelp({}, 80).replaceAll('\n', ' ')).toContain(`${description}.`)
  })

  test('has every column of an export of learners, in its order', () => {
    const rows = [...textOf('docs/output.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    const columns = Object.keys(learnerFields)
    expect(rows.filter((name) => columns.includes(name ?? ''))).toEqual(columns)
  })

  test.for(pages)('links in %s lead somewhere', (file) => {
    const links = [...textOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
    for (const link of links.filter((link) => !link.startsWith('https:'))) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? file : join(dirname(file), path)
      expect(existsSync(join(root, target)), link).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(textOf(target)), link).toContain(anchor)
    }
  })
})

test('every page that src names exists', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const missing = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => textOf(`src/${file}`).match(/[\w./-]+\.md\b/g) ?? [])
    .filter((page) => !existsSync(join(root, page)))
  expect(missing).toEqual([])
})

test('the skill has the form and the size that assistants expect', () => {
  // https://agentskills.io/specification
  const text = textOf(skill)
  const [, head = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
  const { name, description, ...others } = parse(head)
  expect(name).toBe(basename(dirname(skill)))
  expect(name).toMatch(/^[a-z0-9-]{1,64}$/)
  expect(description.length).toBeGreaterThan(100)
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(others).toEqual({})
  expect(text.split('\n').length).toBeLessThanOrEqual(200)
})

/** Returns the anchors of the headings of a page. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}
