import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { run } from '../../helpers/process.ts'
import { published } from './read-roster.ts'
import { makeSmallSchool } from './small-school.ts'

/** Headers of Canvas's SIS import format (doc/api/sis_csv.md), of which optional columns may be left out, in order. */
const canvas = {
  users:
    'user_id,integration_id,login_id,password,ssha_password,authentication_provider_id,first_name,last_name,full_name,sortable_name,short_name,email,status',
  terms: 'term_id,name,status,start_date,end_date',
  courses: 'course_id,short_name,long_name,account_id,term_id,status,start_date,end_date,course_format',
  sections: 'section_id,course_id,name,status,start_date,end_date',
  enrollments: 'course_id,root_account,user_id,role,role_id,section_id,status,associated_user_id',
  groups: 'group_id,account_id,name,status',
  groups_membership: 'group_id,user_id,status',
} as const
/** Columns that Canvas requires. */
const required = {
  users: 'user_id,login_id,status',
  terms: 'term_id,name,status',
  courses: 'course_id,short_name,long_name,status',
  sections: 'section_id,course_id,name,status',
  enrollments: 'course_id,user_id,role,status',
  groups: 'group_id,name,status',
  groups_membership: 'group_id,user_id,status',
} as const

/** Columns that Moodle knows (tool_uploaduser, tool_uploadcourse). */
const moodle = {
  users:
    /^(username|firstname|lastname|email|idnumber|suspended|(course|role|enrolstatus|enroltimestart|group|cohort)\d+)$/,
  courses: /^(shortname|fullname|category|category_path|idnumber|visible|summary)$/,
} as const

const hasPython = spawnSync('python3', ['--version']).status === 0
const env = { HOME: process.env['HOME'] ?? '/', PATH: process.env['PATH'] ?? '' }

/** Reads a package with the modules csv and zipfile, strictly; prints the rows of each file as JSON. */
const script = `
import csv, io, json, os, sys, zipfile
place = sys.argv[1]
if zipfile.is_zipfile(place):
    archive = zipfile.ZipFile(place)
    assert archive.testzip() is None
    files = {name: archive.read(name) for name in archive.namelist()}
else:
    files = {name: open(os.path.join(place, name), 'rb').read() for name in os.listdir(place)}
rows = {}
for name, data in files.items():
    assert not data.startswith(b'\\xef\\xbb\\xbf'), name
    rows[name[:-4]] = list(csv.reader(io.StringIO(data.decode('utf-8'), newline=''), strict=True))
json.dump(rows, sys.stdout)
`

type Rows = Record<string, string[][]>

async function readByPython(path: string): Promise<Rows> {
  const { stdout, stderr } = await run('python3', ['-c', script, path], { env })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

function headersOf(rows: Rows): Record<string, string> {
  return Object.fromEntries(Object.entries(rows).map(([name, [header = []]]) => [name, header.join()]))
}

describe.skipIf(!hasPython)('python', () => {
  for (const version of ['1.1', '1.2'] as const) {
    test(`reads OneRoster ${version} with the published headers, from a folder and a zip`, async ({
      local,
    }) => {
      await makeSmallSchool(local)
      const line = `roster export --format oneroster --oneroster-version ${version}`
      for (const target of ['school', 'school.zip']) {
        expect((await local.run(`${line} ${target}`)).code).toBe(0)
      }
      const rows = await readByPython(join(local.cwd, 'school'))
      expect(headersOf(rows)).toEqual({ ...published[version], manifest: 'propertyName,value' })
      for (const all of Object.values(rows)) {
        expect(all.filter((row) => row.length !== all[0]?.length)).toEqual([])
      }
      const names = rows['users']?.find(([id]) => id === 'u3')
      expect(names).toEqual(expect.arrayContaining(['=1+1', 'two\nlines']))
      expect(await readByPython(join(local.cwd, 'school.zip'))).toEqual(rows)
    })
  }

  test('reads the files of a Canvas SIS import with published headers, in order', async ({ local }) => {
    await makeSmallSchool(local)
    expect((await local.run('roster export --format canvas sis.zip')).code).toBe(0)
    const headers = headersOf(await readByPython(join(local.cwd, 'sis.zip')))
    expect(Object.keys(headers).sort()).toEqual(Object.keys(canvas).sort())
    for (const [name, columns] of Object.entries(canvas)) {
      const shown = headers[name]?.split(',') ?? []
      expect(columns.split(',').filter((column) => shown.includes(column))).toEqual(shown)
      expect(shown).toEqual(expect.arrayContaining(required[name as keyof typeof required].split(',')))
    }
    expect(headers['users']).not.toContain('password')
  })

  test('reads the files for Moodle, whose columns Moodle knows', async ({ local }) => {
    await makeSmallSchool(local)
    expect((await local.run('roster export --format moodle moodle --category 1')).code).toBe(0)
    const rows = await readByPython(join(local.cwd, 'moodle'))
    for (const name of ['users', 'courses'] as const) {
      const [header = [], ...others] = rows[name] ?? []
      expect(header.filter((column) => !moodle[name].test(column))).toEqual([])
      expect(others.filter((row) => row.length !== header.length)).toEqual([])
    }
  })
})

test.skipIf(spawnSync('unzip', ['-v']).status !== 0)('unzip finds a zip intact', async ({ local }) => {
  await makeSmallSchool(local)
  expect((await local.run('roster export --format oneroster school.zip')).code).toBe(0)
  const { stdout } = await run('unzip', ['-t', join(local.cwd, 'school.zip')], { env })
  expect(stdout).toContain('No errors detected')
})
