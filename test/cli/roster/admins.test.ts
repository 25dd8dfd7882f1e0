import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { csv, published } from './read-roster.ts'

test('admins keep their role and status, whatever a roster says of them', async ({ local: cli }) => {
  const line = 'users create --email head@school.example --role admin'
  expect((await cli.run(`${line} --external-id head --first-name Hedy`)).code).toBe(0)
  const roster = (status: string, enabledUser: string) => {
    const head = { sourcedId: 'head', status, enabledUser, role: 'teacher', givenName: 'Hedwig' }
    const text = csv(published['1.1'].users, [{ ...head, username: 'head', email: 'head@school.example' }])
    writeFileSync(join(cli.cwd, 'users.csv'), text)
  }
  const shown = async () => JSON.parse((await cli.run('users get ext:head -o json')).stdout)

  roster('', 'false')
  expect((await cli.run('roster apply users.csv --yes')).code).toBe(0)
  expect(await shown()).toMatchObject({ role: 'admin', status: 'active', profile: { firstName: 'Hedwig' } })
  roster('tobedeleted', 'true')
  expect((await cli.run('roster apply users.csv --yes')).code).toBe(0)
  expect(await shown()).toMatchObject({ role: 'admin', status: 'active' })
  expect((await cli.run('roster diff users.csv')).code).toBe(0)
})
