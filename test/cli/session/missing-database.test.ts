import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { damagePage } from '../../helpers/damage-page.ts'
import { putNewAcademy } from '../../helpers/new-academy.ts'
import { ran } from '../../helpers/result.ts'

const academy = `learnctl: 1
users:
  - email: ada@example.org
`
const courseFile = `externalId: sea
title: Sea
`

describe('a database that does not exist', () => {
  test.for([
    'courses list',
    'courses create --title Sea',
    'analytics export',
    'doctor',
    'dump',
    'diff academy.yaml',
    'apply academy.yaml --dry-run',
    'courses apply -f course.yaml --dry-run',
    'keys create --name ci',
    'api GET /v1/courses',
    'server snapshot save',
    'server snapshot list',
    'server backup copy.db',
    'server reset --yes',
    'server new-encryption-key --yes',
  ])('is not created by %s', async (line, { cli }) => {
    writeFileSync(join(cli.cwd, 'academy.yaml'), academy)
    writeFileSync(join(cli.cwd, 'course.yaml'), courseFile)
    await putNewAcademy(join(cli.cwd, 'trial.db'))
    const before = readdirSync(cli.cwd)
    const { code, stderr } = await cli.run(`${line} --database trail.db`)
    expect(code).toBe(3)
    expect(stderr).toContain(`error: Database not found: ${join(cli.cwd, 'trail.db')}\n`)
    expect(stderr).toContain(`  Nearest: ${join(cli.cwd, 'trial.db')}\n`)
    expect(await cli.run(`${line} --database none/trail.db`)).toMatchObject({ code: 3 })
    expect(readdirSync(cli.cwd)).toEqual(before)
  })

  test.for([
    ['apply academy.yaml --yes', 'ada@example.org'],
    ['courses apply -f course.yaml', 'Sea'],
    ['users import users.csv', 'ada@example.org'],
  ] as const)('is created by %s, which says so', async ([line, told], { cli }) => {
    writeFileSync(join(cli.cwd, 'academy.yaml'), academy)
    writeFileSync(join(cli.cwd, 'course.yaml'), courseFile)
    writeFileSync(join(cli.cwd, 'users.csv'), 'email\nada@example.org\n')
    const { stderr } = await ran(cli, `${line} --database new/academy.db`)
    expect(stderr).toContain(`note: Created an academy in ${join(cli.cwd, 'new/academy.db')}\n`)
    const noun = told === 'Sea' ? 'courses' : 'users'
    expect((await cli.run(`${noun} list --database new/academy.db -o json`)).stdout).toContain(told)
  })

  test.for(['roster diff users.csv', 'roster apply users.csv --dry-run'])(
    'is planned for by %s as if it were empty, and not created',
    async (line, { cli }) => {
      writeFileSync(
        join(cli.cwd, 'users.csv'),
        'user_id,login_id,first_name,last_name,email,status\n1,ada,Ada,Lovelace,ada@example.org,active\n',
      )
      const { code, stdout, stderr } = await cli.run(`${line} --database new.db`)
      expect(code, stderr).toBe(line.includes('diff') ? 9 : 0)
      expect(stdout).toContain('ada@example.org')
      expect(stderr).toContain(
        `note: Database not found: ${join(cli.cwd, 'new.db')}; the plan is for an empty academy\n`,
      )
      expect(readdirSync(cli.cwd)).toEqual(['users.csv'])
    },
  )

  test('is told with what names it, and the academy of the local profile', async ({ cli }) => {
    const own = join(cli.cwd, 'own', 'local.db')
    mkdirSync(join(cli.cwd, 'own'))
    await putNewAcademy(own)
    await cli.run('profiles add local --database own/local.db')
    await cli.run('profiles add gone --database gone.db')
    const named = (stderr: string) => stderr.split('\n').slice(0, 3)
    const told = (name: string, by: string) => [
      `error: Database not found: ${join(cli.cwd, name)}`,
      `  It is named by ${by}`,
      `  Profile local: ${own}`,
    ]
    expect(named((await cli.run('courses list --profile gone')).stderr)).toEqual(told('gone.db', '--profile'))
    const env = { LEARNCTL_DATABASE: 'typo.db' }
    expect(named((await cli.run('courses list', { env })).stderr)).toEqual(
      told('typo.db', 'LEARNCTL_DATABASE'),
    )
    await ran(cli, 'courses copy ext:sea --to-profile gone --profile local', 3)
    expect(existsSync(join(cli.cwd, 'gone.db'))).toBe(false)
  })

  test('is told without files that are no databases', async ({ cli }) => {
    writeFileSync(join(cli.cwd, 'academy.db'), 'not a database')
    const { stderr } = await cli.run('courses list --database academi.db')
    expect(stderr).not.toContain('academy.db\n')
  })
})

test.for(['audit verify', 'audit list', 'courses create --title Sea', 'server backup copy.db'])(
  'a database with a damaged page is named by %s, which does not ask to report a bug',
  async (line, { cli }) => {
    const path = join(cli.cwd, 'academy.db')
    await putNewAcademy(path)
    damagePage(path, 'audit_entries')
    const { stderr } = await ran(cli, `${line} --database academy.db`, 1)
    expect(stderr).toContain(`error: ${path} is damaged`)
  },
)
