import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'

const list = 'profiles list --columns name,active,location'

test('add, use and remove say what they did, and print the profile with -o', async ({ cli }) => {
  const trial = join(cli.cwd, 'trial.db')
  expect(await cli.run('profiles add school --url https://school.example')).toEqual({
    code: 0,
    stdout: '',
    stderr:
      'Added profile school (https://school.example), now active\nnote: Sign in with: learnctl auth login --profile school\n',
  })
  expect(await cli.run('profiles add trial --database trial.db')).toMatchObject({
    stderr: `Added profile trial (${trial})\n`,
  })
  expect(await cli.run('profiles use trial')).toEqual({
    code: 0,
    stdout: '',
    stderr: `Switched to profile trial (${trial})\n`,
  })
  const { stdout, stderr } = await cli.run('profiles use school -o json')
  expect(JSON.parse(stdout)).toMatchObject({ name: 'school', active: true })
  expect(stderr).toBe('')
  expect(await cli.run('profiles use trial -q')).toEqual({ code: 0, stdout: 'trial\n', stderr: '' })
  expect(await cli.run('profiles delete school --yes')).toMatchObject({ stderr: 'Deleted profile school\n' })
  expect(await cli.run('profiles list -q')).toMatchObject({ code: 0, stdout: 'trial\n' })
})

describe('a profile', () => {
  test.for([
    ['profiles add a.b --url https://a.example', 2],
    ['profiles add ../a --url https://a.example', 2],
    ['profiles add __proto__ --url https://a.example', 2],
    ['profiles add a', 2],
    ['profiles add a --url https://a.example --database a.db', 2],
    ['profiles add a --url a.example', 2],
    ['profiles add a --url https://user:secret@a.example', 2],
    ['profiles add school --url https://b.example', 6],
    ['profiles use shcool', 3],
    ['profiles get shcool', 3],
    ['profiles delete shcool --yes', 3],
    ['courses list --profile shcool', 2],
  ] as const)('%s exits %d', async ([line, expected], { cli }) => {
    await cli.run('profiles add school --url https://school.example')
    const { code, stdout, stderr } = await cli.run(line)
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr).not.toContain('secret')
    if (line.includes('shcool')) expect(stderr).toContain('Did you mean school?')
  })

  test('by flag goes before a variable of another kind', { tags: ['slow'] }, async ({ cli }) => {
    const env = { LEARNCTL_DATABASE: 'other.db' }
    await cli.run('profiles add school --url https://school.example', { env })
    expect((await cli.run(list)).stdout).toContain('https://school.example')
  })

  test('is removed after a yes, its database stays', async ({ cli }) => {
    await cli.run('profiles add trial --database trial.db')
    await putNewAcademy(join(cli.cwd, 'trial.db'))
    expect(await cli.run('profiles delete trial')).toMatchObject({ code: 2 })
    const { code, stderr } = await cli.run('profiles delete trial --yes')
    expect(code).toBe(0)
    expect(stderr).toBe(`Deleted profile trial\nnote: The database is kept: ${join(cli.cwd, 'trial.db')}\n`)
    expect(existsSync(join(cli.cwd, 'trial.db'))).toBe(true)
    expect(await cli.run('courses list')).toMatchObject({ code: 4 })
  })

  test('is removed together with others after one question, or none of them is', async ({ cli }) => {
    for (const name of ['one', 'two']) await cli.run(`profiles add ${name} --url https://${name}.example`)
    expect(await cli.run('profiles delete one three --yes')).toMatchObject({ code: 3 })
    const asked = await cli.run('profiles delete one two', { tty: 120, typed: ['y\r'] })
    expect(asked.stderr).toContain('Delete 2 profiles (one, two) from')
    expect(asked.stderr).toContain('Deleted profile one\nDeleted profile two\n')
    expect((await cli.run('profiles list -q')).stdout).toBe('')
  })

  test('is not touched by a dry run', async ({ cli }) => {
    const { stderr } = await cli.run('profiles add trial --database trial.db --dry-run')
    expect(stderr).toBe('note: Would add profile trial\n')
    expect((await cli.run(list)).stdout).toBe('')
  })
})
