import { expect, test } from 'vitest'
import { fixedKeys, publishedKeys } from '../../src/lms/canvas-signature.ts'

const url = 'https://keys.example.org/jwks'
const setOf = (...kids: string[]) => JSON.stringify({ keys: kids.map((kid) => ({ kid, kty: 'RSA' })) })
const minute = 60_000

/** Published keys with a scripted response, and the number of fetches. */
function published(...kids: string[]) {
  const state = { now: 0, answer: async () => setOf(...kids), fetches: 0 }
  const keys = publishedKeys(
    async () => {
      state.fetches += 1
      return state.answer()
    },
    () => state.now,
  )(url)
  return Object.assign(state, { find: (kid: string) => keys.find(kid) })
}

test('keys are kept for an hour', async () => {
  const keys = published('one')
  for (const at of [0, 59 * minute]) {
    keys.now = at
    expect(await keys.find('one')).toMatchObject({ kid: 'one' })
  }
  expect(keys.fetches).toBe(1)
  keys.now = 60 * minute
  await keys.find('one')
  expect(keys.fetches).toBe(2)
})

test('many who ask at once cause one fetch', async () => {
  const keys = published('one')
  await Promise.all(Array.from({ length: 20 }, () => keys.find('one')))
  expect(keys.fetches).toBe(1)
})

test('an unknown key is looked for once in five minutes', async () => {
  const keys = published('one')
  await keys.find('one')
  keys.now = 5 * minute
  expect(await keys.find('two')).toBeNull()
  keys.answer = async () => setOf('one', 'two')
  for (const at of [5, 6, 9]) {
    keys.now = at * minute
    expect(await keys.find('two')).toBeNull()
  }
  expect(keys.fetches).toBe(2)
  keys.now = 10 * minute
  expect(await keys.find('two')).toMatchObject({ kid: 'two' })
  expect(keys.fetches).toBe(3)
})

test('while they cannot be fetched, the keys of the last day count', async () => {
  const keys = published('one')
  await keys.find('one')
  keys.answer = async () => '<html>'
  keys.now = 23 * 60 * minute
  expect(await keys.find('one')).toMatchObject({ kid: 'one' })
  await expect(keys.find('two')).rejects.toMatchObject({ code: 'keys_unavailable' })
  keys.now = 24 * 60 * minute
  await expect(keys.find('one')).rejects.toMatchObject({ code: 'keys_unavailable' })
  keys.answer = async () => setOf('one')
  keys.now += 5 * minute
  expect(await keys.find('one')).toMatchObject({ kid: 'one' })
})

test('an address that never answered is asked again after half a minute', async () => {
  const keys = published()
  keys.answer = async () => {
    throw new Error('connection refused')
  }
  for (const at of [0, 29_000]) {
    keys.now = at
    await expect(keys.find('one')).rejects.toMatchObject({ code: 'keys_unavailable' })
  }
  expect(keys.fetches).toBe(1)
  keys.answer = async () => setOf('one')
  keys.now = 30_000
  expect(await keys.find('one')).toMatchObject({ kid: 'one' })
})

test('a key that has been withdrawn counts no more once the set is fetched again', async () => {
  const keys = published('one')
  await keys.find('one')
  keys.answer = async () => setOf('two')
  keys.now = 60 * minute
  expect(await keys.find('one')).toBeNull()
})

test('keys of a file need no network; what is no key set is refused', async () => {
  expect(await fixedKeys(setOf('one')).find('one')).toMatchObject({ kid: 'one' })
  expect(await fixedKeys(setOf('one')).find('__proto__')).toBeNull()
  expect(() => fixedKeys('{}')).toThrow(SyntaxError)
})
