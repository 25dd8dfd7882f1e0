import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { json, test } from '../helpers/odd-platform.ts'
import { expectClearError } from '../helpers/result.ts'

const deepJson = `{"title":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
const deepObjects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`

/** Nine references to nine references, and so on: a billion texts from a few lines. */
const aliases = ['a: &a [x, x, x, x, x, x, x, x, x]']
  .concat([...'bcdefghi'].map((name, n) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[n]}`)}]`))
  .join('\n')

const tooDeep = (name: string) => `Cannot read ${name}: it is nested more than 200 levels deep\n`

describe('a document that would take its reader all memory is refused', () => {
  test.for<[name: string, text: string, reason: string]>([
    ['deep.json', deepJson, tooDeep('deep.json')],
    ['deep.json', deepObjects, tooDeep('deep.json')],
    ['open.json', '['.repeat(1_000_000), 'open.json:1:1000001: not JSON: Unexpected end of JSON input\n'],
    ['huge.json', '{"title": 1e999}', 'Cannot read huge.json: 1e999 is out of range for a number\n'],
    ['deep.yaml', `title: ${'- '.repeat(3000)}x`.replace(': -', ':\n  -'), tooDeep('deep.yaml')],
    ['shallow.yaml', `title: ${'['.repeat(201)}${']'.repeat(201)}`, tooDeep('shallow.yaml')],
    ['flow.yaml', `title: ${'['.repeat(5000)}${']'.repeat(5000)}`, tooDeep('flow.yaml')],
    ['aliases.yaml', aliases, 'Cannot read aliases.yaml: its aliases expand too far\n'],
    ['cycle.yaml', 'title: &a [*a]', ''],
    ['unknown.yaml', 'title: *nobody', ''],
  ])('%s', async ([name, text, reason], { local }) => {
    writeFileSync(join(local.cwd, name), text)
    for (const line of [`courses create --body @${name}`, `api POST /v1/courses --body @${name}`]) {
      expectClearError(await local.run(line), 2, reason)
    }
    expect((await local.run('courses list -o json')).stdout).toBe('[]\n')
  })
})

describe('an answer that would', () => {
  test.for([
    ['courses list'],
    ['courses get 1'],
    ['courses update 1 --title x'],
    ['api GET /v1/x'],
    ['analytics export --format json --columns a'],
  ])('is no answer to %s', async ([line = ''], { platform }) => {
    platform.answer(json(200, deepObjects))
    expectClearError(await platform.run(line), 1, 'it is nested more than 200 levels deep\n')
  })

  test('reports only its status if it is an error', async ({ platform }) => {
    platform.answer(json(404, deepObjects.slice(0, 60_000)))
    expectClearError(await platform.run('courses update 1 --title x'), 3, /returned 404 \(PUT /)
  })
})
