import { expect, test } from 'vitest'
import { passwordsOf } from '../../../src/server/access/passwords.ts'

const cheap = { N: 2, r: 1, p: 1 }
const password = 'correct horse battery'

test('abandoned work is not begun, and the work behind it is', async () => {
  const passwords = passwordsOf(cheap)
  const gone = { name: 'ada', isClientGone: () => true }
  const here = { ...gone, isClientGone: () => false }
  const refusal = { code: 'request_timeout', message: 'The client closed the connection.' }
  const left = Promise.allSettled([passwords.hash(gone, password), passwords.verify(gone, password, null)])
  const hash = passwords.hash(here, password)
  for (const one of await left) expect(one).toMatchObject({ status: 'rejected', reason: refusal })
  expect(await passwords.verify(here, password, await hash)).toBe(true)
  expect(await passwords.verify(here, password, null)).toBe(false)
})
