import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { run } from '../../helpers/process.ts'
import { makeSmallSchool } from './small-school.ts'

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

describe.skipIf(!hasPython)('python', () => {
  test('reads a OneRoster package strictly, from a folder and a zip', async ({ local }) => {
    await makeSmallSchool(local)
    for (const target of ['school', 'school.zip']) {
      expect((await local.run(`roster export --format oneroster ${target}`)).code).toBe(0)
    }
    const rows = await readByPython(join(local.cwd, 'school'))
    for (const all of Object.values(rows)) {
      expect(all.filter((row) => row.length !== all[0]?.length)).toEqual([])
    }
    const names = rows['users']?.find(([id]) => id === 'u3')
    expect(names).toEqual(expect.arrayContaining(['=1+1', 'two\nlines']))
    expect(await readByPython(join(local.cwd, 'school.zip'))).toEqual(rows)
  })
})

test.skipIf(spawnSync('unzip', ['-v']).status !== 0)('unzip finds a zip intact', async ({ local }) => {
  await makeSmallSchool(local)
  expect((await local.run('roster export --format oneroster school.zip')).code).toBe(0)
  const { stdout } = await run('unzip', ['-t', join(local.cwd, 'school.zip')], { env })
  expect(stdout).toContain('No errors detected')
})
