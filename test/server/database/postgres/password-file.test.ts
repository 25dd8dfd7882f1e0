import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect } from 'vitest'
import { findPassword } from '../../../../src/server/database/postgres/reach-postgres.ts'
import { freshDirectory } from '../../../helpers/academy.ts'

const test = base.extend('path', ({ task: _ }, { onCleanup }) => {
  const { path, remove } = freshDirectory()
  onCleanup(remove)
  return join(path, '.pgpass')
})

const wanted = { host: 'db.example.org', port: 5432, database: 'school', user: 'ann' }

test.for([
  ['db.example.org:5432:school:ann:right', 'right'],
  ['other:5432:school:ann:wrong\n*:*:*:ann:right', 'right'],
  ['# db.example.org:5432:school:ann:wrong\r\n\r\ndb.example.org:*:school:ann:right\r\n', 'right'],
  ['*:*:*:*:first\ndb.example.org:5432:school:ann:second', 'first'],
  [String.raw`db.example.org:5432:school:ann:a\:b\\c`, String.raw`a:b\c`],
  ['db.example.org:5432:school:ann:a:b', 'a:b'],
  ['db.example.org:5433:school:ann:wrong', undefined],
  ['*:*:*:*:', undefined],
  ['a line of no password file', undefined],
])('the lines %j give the password %s', ([text, password], { path }) => {
  writeFileSync(path, text ?? '', { mode: 0o600 })
  expect(findPassword(path, wanted)).toEqual({ password, ignored: undefined })
})

test('a socket goes by its folder, or as localhost', ({ path }) => {
  writeFileSync(path, 'localhost:*:school:ann:by-name\n/tmp:*:other:ann:by-folder', { mode: 0o600 })
  const socket = { ...wanted, host: '/tmp' }
  expect(findPassword(path, socket).password).toBe('by-name')
  expect(findPassword(path, { ...socket, database: 'other' }).password).toBe('by-folder')
})

test('no file is no password, and what others can read is ignored', ({ path }) => {
  expect(findPassword(path, wanted)).toEqual({ password: undefined, ignored: undefined })
  writeFileSync(path, '*:*:*:*:secret')
  chmodSync(path, 0o640)
  const { password, ignored } = findPassword(path, wanted)
  expect([password, ignored]).toEqual([undefined, `can be read by others; run \`chmod 600 ${path}\``])
})

test('a folder in its place is ignored', ({ path }) => {
  mkdirSync(path)
  expect(findPassword(path, wanted)).toEqual({ password: undefined, ignored: 'is not a file' })
})
