import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ErrorCode, statusOf } from '../../src/contract/errors.ts'
import { operations } from '../../src/contract/index.ts'
import { onPostgres } from '../helpers/academy.ts'
import { root } from '../helpers/process.ts'
import { type DocumentExamples, documentExamplesFile, documentExamplesText } from './document-examples.ts'

const text = await documentExamplesText()
const { operations: made, problems } = JSON.parse(text) as DocumentExamples

// With many writers, entries of the audit log are linked later.
test.skipIf(onPostgres)(
  'the examples of the document are what the academy answers today; npm run docs makes them anew',
  () => {
    expect(readFileSync(join(root, documentExamplesFile), 'utf8')).toBe(text)
  },
)

test('every list of the examples ends, so that a mock made from them does', () => {
  const lists = operations.filter(({ list }) => list)
  expect(lists.length).toBeGreaterThan(8)
  for (const { id } of lists) expect(made[id]?.response).toMatchObject({ nextCursor: null })
})

test('every error code has an example of its own, which says what to do in its own words', () => {
  const codes = Object.keys(statusOf) as ErrorCode[]
  expect(Object.keys(problems)).toEqual(codes)
  for (const code of codes) {
    expect(problems[code]).toMatchObject({ code, status: statusOf[code], type: 'about:blank' })
    expect(problems[code]).not.toMatchObject({ detail: 'The request was refused.' })
  }
  expect(problems).toMatchObject({
    stale_progress: { current: { completionPercentage: 20 } },
    invalid_transition: { from: 'archived', to: 'draft', allowed: ['published'] },
    validation_failed: {
      errors: [{ pointer: '#/title' }, { pointer: '#/difficulty' }, { pointer: '#/level' }],
    },
  })
})

test('no example holds an API key, a token or a secret', () => {
  expect(text).not.toMatch(/lp[a-z]_[A-Za-z0-9]{30}/)
  expect(JSON.stringify(made['apps.create']?.response)).toContain('"clientSecret":"shown_only_once"')
})
