import { expect, test } from 'vitest'
import { faultOf } from '../../../src/server/http/reply.ts'

/** An error of SQLite by number (SQLite, Result and Error Codes). */
function sqliteError(errcode: number) {
  return Object.assign(new Error('what SQLite says'), { code: 'ERR_SQLITE_ERROR', errcode })
}

test.for([
  [5, 'is locked by another process'],
  [261, 'is locked by another process'],
  [6, 'is locked by another process'],
  [1544, 'is read-only'],
  [266, 'cannot be read or written: the disk reports an error'],
  [13, 'cannot be written: the disk is full'],
] as const)('fault %i of the database is 503, and says that it %s', ([errcode, why]) => {
  const cause = sqliteError(errcode)
  expect(faultOf(cause)).toMatchObject({
    code: 'unavailable',
    message: `The database ${why}.`,
    headers: { 'retry-after': '1' },
    cause,
  })
})

test('any other fault is internal, with nothing of it in the answer', () => {
  const cause = sqliteError(1)
  expect(faultOf(cause)).toMatchObject({ code: 'internal', headers: {}, cause })
  expect(faultOf(cause).message).not.toContain('SQLite')
})
