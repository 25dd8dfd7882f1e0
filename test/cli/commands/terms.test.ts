import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'

const spring = '--name "Spring 2027" --external-id 2027S --start-date 2027-02-01 --end-date 2027-07-31'

test('a term is created, changed, shown and deleted', async ({ local }) => {
  const made = await local.run(`terms create ${spring}`)
  expect(made.stderr).toBe('Created term Spring 2027 (2027S)\n')
  const changed = await local.run('terms update "Spring 2027" --unset end-date')
  expect(changed.stderr).toBe('Updated term Spring 2027 (2027S), version 2\n')
  expect((await local.run('terms get 2027S --columns name,startDate,endDate')).stdout).toBe(
    'Spring 2027\t2027-02-01\t\n',
  )
  expect((await local.run('terms list -q --sort name')).stdout).toMatch(/^trm_\w+\n$/)
  const deleted = await local.run('terms delete ext:2027S --yes')
  expect(deleted).toMatchObject({ code: 0, stderr: 'Deleted term Spring 2027 (2027S)\n' })
})

test('a day that does not exist, and one after the end, name their flags', async ({ local }) => {
  const missing = await local.run('terms create --name Spring --start-date 2027-02-30')
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('--start-date must be a day')])
  const late = await local.run('terms create --name Spring --start-date 2027-09-01 --end-date 2027-07-31')
  expect([late.code, late.stderr]).toEqual([
    2,
    expect.stringContaining('--start-date must not be after endDate (2027-07-31)'),
  ])
})

test('terms are imported with the days of a spreadsheet, and exported', async ({ local }) => {
  const table = 'externalId;name;Start date;endDate\n2027S;Spring 2027;01.02.2027;31.07.2027\n'
  writeFileSync(join(local.cwd, 'terms.csv'), table)
  const unclear = await local.run('terms import terms.csv')
  expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('use --date-format DD.MM.YYYY')])
  expect((await local.run('terms import terms.csv --date-format DD.MM.YYYY')).stderr).toContain('1 created')
  expect((await local.run('terms import terms.csv --date-format DD.MM.YYYY')).stderr).toContain('1 unchanged')
  expect((await local.run('terms export')).stdout).toBe(
    'externalId,name,startDate,endDate,managedBy\r\n2027S,Spring 2027,2027-02-01,2027-07-31,\r\n',
  )
})
