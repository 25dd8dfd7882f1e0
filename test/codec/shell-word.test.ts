import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellWord } from '../../src/codec/display-text.ts'

test.each([
  ['crs_1', 'crs_1'],
  ['ext:BIO-101', 'ext:BIO-101'],
  ['/home/ada/academy.db', '/home/ada/academy.db'],
  ['two words', "'two words'"],
  ["it's", "'it'\\''s'"],
  ['', "''"],
  ['$(id)', "'$(id)'"],
])('%s is the word %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
})

test('a shell reads every word back as the text it was', () => {
  const texts = fc.sample(fc.string({ unit: fc.constantFrom(...'ab\'"\\$`;&|<>*?![]{}()~# \n\t=%') }), 300)
  const script = texts.map((text) => `printf '%s\\0' ${shellWord(text)}`).join('\n')
  expect(execFileSync('sh', ['-c', script]).toString().split('\0').slice(0, -1)).toEqual(texts)
})
