import { expect, test } from 'vitest'
import { visible } from '../../../src/cli/terminal/visible.ts'

test.each([
  ['plain text, 日本語, 🎉 and é', 'plain text, 日本語, 🎉 and é'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\u001b[31mred\u001b]8;;http://evil\u0007', '\\x1b[31mred\\x1b]8;;http://evil\\x07'],
  ['\u009b31m and \u007f', '\\x9b31m and \\x7f'],
  ['\u202egpj.exe\u2066', '\\u202egpj.exe\\u2066'],
  ['\u2028', '\\u2028'],
])('%j is shown as %s', (text, shown) => {
  expect(visible(text)).toBe(shown)
})
