import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ZipFile } from 'yazl'
import { freshDirectory } from '../../helpers/fresh-directory.ts'
import { openAt, type RosterFiles, readRoster, writeRoster } from './read-roster.ts'

const users =
  'user_id,login_id,first_name,last_name,email,status\n1,ada,Ada,Lovelace,ada@example.org,active\n2,bert,Bert,Brecht,bert@example.org,active\n'

/** Returns a zip file, changed by `change`. */
async function zipped(
  files: RosterFiles,
  { zip64 = false } = {},
  change: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<string> {
  const zip = new ZipFile()
  for (const [name, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), name, { forceZip64Format: zip64 })
  zip.end({ comment: '', forceZip64Format: zip64 })
  const { path, remove } = freshDirectory()
  onTestFinished(remove)
  writeFileSync(join(path, 'school.zip'), change(await buffer(zip.outputStream)))
  return join(path, 'school.zip')
}

async function read(path: string) {
  const { records, findings } = await openAt(path)
  const notes = findings.notes().map((note) => note.replaceAll(path, 'school.zip'))
  return { ids: (records.get('users') ?? []).map(({ record }) => record['externalId']), notes }
}

function replaced(bytes: Buffer, from: string, to: string): Buffer {
  const copy = Buffer.from(bytes)
  for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + 1)) copy.write(to, at, 'latin1')
  return copy
}

describe('a roster in a zip file', () => {
  test('is read, also in a folder with what macOS adds, and in Zip64', async () => {
    const inFolder = {
      'export/users.csv': users,
      '__MACOSX/export/._users.csv': 'x',
      'export/.DS_Store': 'x',
      'export/readme.pdf': 'x',
    }
    expect(await read(await zipped({ 'users.csv': users }))).toEqual({ ids: ['1', '2'], notes: [] })
    expect(await read(await zipped({ 'users.csv': users }, { zip64: true }))).toEqual({
      ids: ['1', '2'],
      notes: [],
    })
    expect(await read(await zipped(inFolder))).toEqual({
      ids: ['1', '2'],
      notes: [
        'school.zip: files that are no CSV are left out (3 times: __MACOSX/export/._users.csv, export/.DS_Store, export/readme.pdf)',
      ],
    })
  })

  test.for<[name: string, make: () => Promise<string>, message: string]>([
    [
      'is encrypted',
      () =>
        zipped({ 'users.csv': users }, {}, (bytes) => {
          const copy = Buffer.from(bytes)
          const directory = copy.indexOf(Buffer.from('504b0102', 'hex'))
          copy.writeUInt16LE(copy.readUInt16LE(directory + 8) | 1, directory + 8)
          return copy
        }),
      'users.csv is encrypted',
    ],
    [
      'has names outside of its folder',
      () => zipped({ 'aa/users.csv': users }, {}, (bytes) => replaced(bytes, 'aa/', '../')),
      'it has a file outside of its folder: ../users.csv',
    ],
    [
      'has absolute names',
      () => zipped({ 'ausers.csv': users }, {}, (bytes) => replaced(bytes, 'ausers', '/users')),
      'it has a file outside of its folder: /users.csv',
    ],
    [
      'is a bomb',
      () => zipped({ 'users.csv': Buffer.alloc(8 * 1024 * 1024, 0x2c) }),
      'users.csv is compressed',
    ],
    [
      'is cut short',
      () => zipped({ 'users.csv': users }, {}, (bytes) => bytes.subarray(0, bytes.length - 30)),
      'it is no zip file, or is cut short',
    ],
    [
      'has a damaged file',
      () =>
        zipped({ 'users.csv': users }, {}, (bytes) => {
          const copy = Buffer.from(bytes)
          copy.writeUInt32LE(1, copy.indexOf(Buffer.from('504b0102', 'hex')) + 16)
          return copy
        }),
      'users.csv is damaged',
    ],
    [
      'has a file that is longer than it says',
      () =>
        zipped({ 'users.csv': users }, {}, (bytes) => {
          const copy = Buffer.from(bytes)
          copy.writeUInt32LE(10, copy.indexOf(Buffer.from('504b0102', 'hex')) + 24)
          return copy
        }),
      'a file in it is not as long as its directory says',
    ],
    ['has no CSV files', () => zipped({ 'a.pdf': 'x' }), 'has no CSV files'],
  ])('is refused if it %s', async ([, make, message]) => {
    await expect(make().then(read)).rejects.toThrow(message)
  })
})

describe('a roster in a folder', () => {
  test('is read from folders in it, and follows links to files', async () => {
    const path = writeRoster({ 'term/one/users.csv': users, 'notes.docx': 'x' })
    mkdirSync(join(path, 'term/two'))
    symlinkSync(join(path, 'term/one/users.csv'), join(path, 'term/two/more-users.csv'))
    const { ids, notes } = await read(path)
    expect(ids).toEqual(['1', '2'])
    expect(notes).toContain(
      'term/two/more-users.csv: several rows of one user; read the last (2 times: 1 in line 2, 2 in line 3)',
    )
  })

  test('is refused if it links to a file outside of it', async () => {
    const path = writeRoster({ 'users.csv': users })
    const { path: other, remove } = freshDirectory()
    onTestFinished(remove)
    writeFileSync(join(other, 'secret.txt'), 'root:x:0:0')
    symlinkSync(join(other, 'secret.txt'), join(path, 'courses.csv'))
    await expect(openAt(path)).rejects.toMatchObject({
      message: `courses.csv is a link to a file outside of ${path}`,
    })
  })

  test('may have several files of one table, of which later rows replace earlier ones', async () => {
    const { recordsOf, problems, roster } = await readRoster({
      'users-1.csv': users,
      'users-2.csv': users.replace('ada@', 'lovelace@').replace('\n2,bert', '\n3,ada'),
    })
    expect(problems).toEqual([
      'users-2.csv:3 email: is the address of users-1.csv:3 as well (bert@example.org)',
      'users-2.csv:3 login_id: is the user name of users-2.csv:2 as well (ada)',
    ])
    expect(recordsOf('users').map(({ externalId, email }) => [externalId, email])).toEqual([
      ['2', 'bert@example.org'],
      ['1', 'lovelace@example.org'],
    ])
    expect(roster.findings.notes()).toEqual([
      'users-2.csv: several rows of one user; read the last (1 in line 2)',
    ])
  })

  test('is refused without CSV files, and if its format is not clear', async () => {
    await expect(readRoster({ 'a.txt.pdf': 'x' })).rejects.toThrow('has no CSV files')
    await expect(readRoster({ 'users.csv': 'username,full_name,email\na,A,a@b.example\n' })).rejects.toThrow(
      'may be Moodle or Kolibri',
    )
    await expect(
      readRoster({ 'users.csv': users, 'more.csv': 'username,firstname,lastname\na,A,B\n' }),
    ).rejects.toThrow('may be Canvas SIS or Moodle')
  })
})
