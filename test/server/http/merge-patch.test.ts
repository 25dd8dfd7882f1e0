import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergePatch } from '../../../src/server/http/request-body.ts'

// RFC 7396, appendix A: target, patch, result.
test.for([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ a: 'foo' }, 'bar', 'bar'],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', ([target, patch, result]) => {
  expect(mergePatch(target, patch)).toEqual(result)
})

const json = fc.jsonValue({ maxDepth: 4 })
const object = fc.dictionary(fc.string(), json)

test('a patch leaves what it does not name, takes away what is null and sets the rest', () => {
  fc.assert(
    fc.property(object, object, (target, patch) => {
      const merged = mergePatch(target, patch) as Record<string, unknown>
      for (const key of new Set([...Object.keys(target), ...Object.keys(patch)])) {
        if (!Object.hasOwn(patch, key)) expect(merged[key]).toBe(target[key])
        else if (patch[key] === null) expect(Object.hasOwn(merged, key)).toBe(false)
        else expect(Object.hasOwn(merged, key)).toBe(true)
      }
    }),
  )
})

test('a patch applied twice is applied once, and target and patch are left as they were', () => {
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const before = JSON.stringify([target, patch])
      const once = mergePatch(target, patch)
      expect(mergePatch(once, patch)).toEqual(once)
      expect(JSON.stringify([target, patch])).toBe(before)
    }),
  )
})
