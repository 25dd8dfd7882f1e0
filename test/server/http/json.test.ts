import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../src/server/http/request-body.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('A body of JSON', () => {
  test('has no negative zero within its bounds', () => {
    const body = parseJson(bytesOf('{"a":-0,"b":[-0.0,1,{"c":-0e5}],"__proto__":-0,"d":"-0"}'))
    expect(body).toStrictEqual(
      Object.fromEntries([
        ['a', 0],
        ['b', [0, 1, { c: 0 }]],
        ['__proto__', 0],
        ['d', '-0'],
      ]),
    )
    expect(Object.is(parseJson(bytesOf('-0')), 0)).toBe(true)
  })

  test('beyond its bounds is not walked through', () => {
    const deep = parseJson(bytesOf(`${'['.repeat(100_000)}-0${']'.repeat(100_000)}`))
    expect(deep).toHaveLength(1)
    const long = parseJson(bytesOf(`[${'-0,'.repeat(1000)}-0]`)) as unknown[]
    expect(long.every((item) => Object.is(item, -0))).toBe(true)
  })
})
