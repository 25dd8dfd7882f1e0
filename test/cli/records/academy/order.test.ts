import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../../helpers/cli.ts'

test('an apply moves addresses on in a chain', { tags: ['slow'] }, async ({ local }) => {
  const apply = async (shift: number) => {
    const users = Array.from({ length: 6 }, (_, n) => ({
      externalId: `${n}`,
      email: `u${n + shift}@b.example`,
    }))
    writeFileSync(join(local.cwd, 'school.json'), JSON.stringify({ learnctl: 1, users }))
    return local.run('apply school.json --yes')
  }
  expect(await apply(0)).toMatchObject({ code: 0 })
  expect(await apply(1)).toMatchObject({ code: 0 })
  expect(await local.run('diff school.json')).toMatchObject({ code: 0 })
})

test('an apply counts each lesson that it moves', async ({ local }) => {
  const apply = async (titles: readonly string[]) => {
    const courses = [{ externalId: 'sea', title: 'Sea', lessons: titles.map((title) => ({ title })) }]
    writeFileSync(join(local.cwd, 'school.json'), JSON.stringify({ learnctl: 1, courses }))
    return local.run('apply school.json --yes')
  }
  await apply(['Waves', 'Tides', 'Fish'])
  const { stderr } = await apply(['Fish', 'Tides', 'Waves'])
  expect(stderr).toBe('Applied: 0 created, 2 changed, 0 deleted; 2 as declared\n')
})
