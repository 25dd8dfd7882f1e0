import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished } from 'vitest'
import type { HttpRequest } from '../../../../src/contract/http.ts'
import { test, testCli, transportTo } from '../../../helpers/cli.ts'
import type { TestAcademy } from '../../../helpers/test-academy.ts'

/**
 * Runs the program with a platform that responds to a write only after all writes that can be under way have arrived.
 */
async function watched(academy: TestAcademy) {
  const { key } = await academy.person('admin')
  const transport = transportTo(academy)
  const writes: string[] = []
  let underWay = 0
  let most = 0
  const cli = testCli({
    transport: async (request) => {
      if (!isUpdate(request)) return transport(request)
      writes.push(String(request.body))
      underWay += 1
      most = Math.max(most, underWay)
      // In each turn of the event loop the program may send more.
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
      const response = await transport(request)
      underWay -= 1
      return response
    },
  })
  onTestFinished(() => cli.remove())
  const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key }
  const run = async (line: string, file: object) => {
    writeFileSync(join(cli.cwd, 'school.json'), JSON.stringify(file))
    writes.length = 0
    most = 0
    const ran = await cli.run(line, { env })
    expect(ran.code, ran.stderr).toBe(0)
    return { writes: [...writes], most }
  }
  return {
    applyCourse: (lessons: readonly object[]) =>
      run('courses apply -f school.json', { externalId: 'C', title: 'Sea', lessons }),
  }
}

function isUpdate({ method, url }: HttpRequest): boolean {
  return method === 'PUT' && /\/v1\/(users|lessons)\//.test(url)
}

describe('changes that an apply makes', () => {
  test('to the content of lessons go side by side, and those to their places one after the other', {
    tags: ['slow'],
  }, async ({ academy }) => {
    const { applyCourse } = await watched(academy)
    const lessons = (description: string) =>
      Array.from({ length: 20 }, (_, n) => ({ externalId: `${n}`, title: `Lesson ${n}`, description }))
    await applyCourse(lessons('Before'))
    const changed = await applyCourse(lessons('After'))
    expect(changed.writes).toHaveLength(20)
    expect(changed.most).toBeGreaterThan(3)
    expect(changed.most).toBeLessThanOrEqual(8)
    const moved = await applyCourse(lessons('After').reverse())
    expect(moved.writes).toHaveLength(19)
    expect(moved.most).toBe(1)
  })

  test('move addresses on in a chain', { tags: ['slow'] }, async ({ local }) => {
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
})
