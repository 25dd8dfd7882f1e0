import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonLimitError, jsonText, parseJson } from '../../src/codec/json-text.ts'
import { anyText } from '../helpers/any-text.ts'

describe('JSON', () => {
  test('keeps every integer that it has, however long', () => {
    const members = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.bigInt().map(String),
        fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String),
        anyText.map((text) => JSON.stringify(text)),
        fc.constantFrom('null', 'true', '"9007199254740993"', '"[9007199254740993"'),
        fc.array(tie('value')).map((items) => `[${items.join(',')}]`),
        fc.array(tie('value')).map((items) => `{${items.map((item, n) => `"m${n}":${item}`).join(',')}}`),
      ),
    }))
    fc.assert(
      fc.property(members.value, (text) => {
        expect(jsonText(parseJson(String(text)))).toBe(text)
      }),
    )
  })

  test.for([
    ['9007199254740993', 9007199254740993n],
    ['[-9007199254740993]', [-9007199254740993n]],
    ['{"id":\t12345678901234567890}', { id: 12345678901234567890n }],
    ['9007199254740991', 9007199254740991],
    ['1234567890.1234567', 1234567890.1234567],
    ['1e21', 1e21],
    // What may look like one is left to the engine.
    ['"12345678901234567890"', '12345678901234567890'],
    ['["a: 12345678901234567890"]', ['a: 12345678901234567890']],
  ] as const)('%s is read', ([text, value]) => {
    expect(parseJson(text)).toEqual(value)
  })

  test('that its reader cannot hold is refused', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(jsonText(parseJson(nested(200)))).toBe(nested(200))
    expect(() => parseJson(nested(201))).toThrow('it is nested more than 200 levels deep')
    expect(() => parseJson('{"a":'.repeat(1_000_000))).toThrow(JsonLimitError)
    expect(() => parseJson('[1e400]')).toThrow('1e400 is out of range for a number')
    // Brackets in texts are none, and escaped quotes do not end one.
    const text = JSON.stringify(`\\"${'['.repeat(1000)}\\\\`)
    expect(jsonText(parseJson(`[${text}]`))).toBe(`[${text}]`)
  })

  test('that is not whole is told by the engine', () => {
    for (const text of ['', '{', '"', '"\\', '[1', '[9007199254740993'])
      expect(() => parseJson(text)).toThrow(SyntaxError)
    const cycle: unknown[] = []
    cycle.push(cycle)
    expect(() => jsonText(cycle)).toThrow(TypeError)
    expect(jsonText(undefined)).toBe('null')
  })
})
