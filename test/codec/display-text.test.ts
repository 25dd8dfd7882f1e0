import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeHidden, escapeHiddenInDocument, shellWord } from '../../src/codec/display-text.ts'

test.each([
  ['crs_1', 'crs_1'],
  ['/home/ada/academy.db', '/home/ada/academy.db'],
  ['two words', "'two words'"],
  ['', "''"],
])('%s is the word %s', (text, word) => {
  expect(shellWord(text)).toBe(word)
})

test('a shell reads every word back as the text it was', () => {
  const texts = fc.sample(fc.string({ unit: fc.constantFrom(...'ab\'"\\$`;&|<>*?![]{}()~# \n\t=%') }), 300)
  const script = texts.map((text) => `printf '%s\\0' ${shellWord(text)}`).join('\n')
  expect(execFileSync('sh', ['-c', script]).toString().split('\0').slice(0, -1)).toEqual(texts)
})

test.each([
  ['plain text, 日本語, 🎉 and é', 'plain text, 日本語, 🎉 and é'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[31mred\u001b]8;;http://evil\u0007', '\\x1b[31mred\\x1b]8;;http://evil\\x07'],
  ['\u009b31m and \u007f', '\\x9b31m and \\x7f'],
  ['\u202egpj.exe\u2066', '\\u202egpj.exe\\u2066'],
  ['\u2028', '\\u2028'],
  ['a\u200bb\u2060c\ufeffd\u00ade', 'a\\u200bb\\u2060c\\ufeffd\\xade'],
  ['left\u200eright\u200f\u061c', 'left\\u200eright\\u200f\\u061c'],
  ['tag\u{e0041}\u{e007f}', 'tag\\udb40\\udc41\\udb40\\udc7f'],
  ['half \ud83c', 'half \\ud83c'],
  ['a\u200db', 'a\\u200db'],
])('%j is shown as %s', (text, shown) => {
  expect(escapeHidden(text)).toBe(shown)
})

test.each(['👩‍🚀', '👩🏽‍💻', '🏳️‍🌈', 'می‌خواهم', 'क्‍ष', 'é', '日本語'])(
  '%s is shown as it is: its joiners are spelling',
  (text) => {
    expect(escapeHidden(text)).toBe(text)
  },
)

test('a document keeps its line ends and tabs, and JSON its value', () => {
  expect(escapeHiddenInDocument('a\tb\r\nc\rd\n')).toBe('a\tb\r\nc\\u000dd\n')
  const value = { title: '\u009b31m C:\\x41 \u202e\u{e0041}\u007f' }
  const shown = escapeHiddenInDocument(JSON.stringify(value))
  expect(shown).toBe('{"title":"\\u009b31m C:\\\\x41 \\u202e\\udb40\\udc41\\u007f"}')
  expect(JSON.parse(shown)).toEqual(value)
})
