import { expect, test } from 'vitest'
import { isJsonObject } from '../../src/codec/json-text.ts'

test.each([
  ['{}', true],
  ['{"a":null}', true],
  ['{"__proto__":1}', true],
  ['[]', false],
  ['[{}]', false],
  ['null', false],
  ['"{}"', false],
  ['0', false],
  ['true', false],
])('%s is an object of JSON: %s', (text, is) => {
  expect(isJsonObject(JSON.parse(text))).toBe(is)
})
