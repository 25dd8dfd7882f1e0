import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { type Answer, json, test } from '../helpers/odd-platform.ts'

/** As a double it would be the id of another course: 1234567890123456800. */
const id = '1234567890123456789'
const course = `{"id":${id},"title":"Sea","owner":{"id":${id}},"version":3}`

/** Keeps the request and responds with the course. */
function keeping(bodies: string[]): Answer {
  return (response, request) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      bodies.push(text)
      json(200, course)(response, request)
    })
  }
}

describe('an integer beyond 2^53 stays what it is', () => {
  test.for([
    ['courses list -o json', `"id": ${id}\n    },`],
    ['courses list -o jsonl', `"owner":{"id":${id}}`],
    ['courses list -o yaml', `owner:\n    id: ${id}\n`],
    ['courses list -o csv --columns id,title,owner', `\r\n${id},Sea,"{""id"":${id}}"\r\n`],
    ['courses list --columns id,title,owner', `${id}\tSea\t{"id":${id}}\n`],
    ['api GET /v1/courses', `"id": ${id},`],
    ['analytics export --format json --columns owner', `{"owner":{"id":${id}}}`],
    ['analytics export --format ndjson', `"id":${id}`],
  ])('in the answer that %s prints', async ([line = '', printed = ''], { platform }) => {
    platform.answer(json(200, `[${course}]`))
    const { code, stdout } = await platform.run(line)
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(printed) })
  })

  test('on a terminal', async ({ platform }) => {
    platform.answer(json(200, `[${course}]`))
    expect((await platform.run('courses list --columns id,title', { tty: 80 })).stdout).toContain(id)
    platform.answer(json(200, course))
    expect((await platform.run('courses get 1', { tty: 80 })).stdout).toMatch(new RegExp(`id\\S* +${id}\n`))
  })

  test.for([
    ['courses update 1 --body @numbers.json'],
    ['courses update 1 --body @numbers.yaml'],
    [`courses update 1 --duration-minutes ${id}`],
    ['api PUT /v1/courses/1 --body @numbers.json'],
    [`api PUT /v1/courses/1 --field durationMinutes=${id}`],
    [`api PUT /v1/courses/1 --field durationMinutes=-${id}`],
  ])('in what %s sends, and shows beforehand', async ([line = ''], { cli, platform }) => {
    writeFileSync(join(cli.cwd, 'numbers.json'), `{"durationMinutes": ${id}, "x": [1, 2.5]}`)
    writeFileSync(join(cli.cwd, 'numbers.yaml'), `durationMinutes: ${id}\nx: [1, 2.5]\n`)
    const bodies: string[] = []
    platform.answer(keeping(bodies))
    await platform.run(line)
    expect(bodies).toEqual([expect.stringMatching(new RegExp(`"durationMinutes":-?${id}[,}]`))])
    expect(bodies[0]).not.toMatch(/"1"|2\.5n/)
    const shown = await platform.run(`${line} --dry-run`)
    expect(shown.stdout).toMatch(new RegExp(`"durationMinutes": -?${id}`))
    expect(bodies).toHaveLength(1)
  })

  test('in a path and in a cursor', async ({ platform }) => {
    platform.answer(
      json(200, `{"data":[${course}],"nextCursor":${id}}`),
      json(200, `{"data":[${course.replace('Sea', 'Land')}],"nextCursor":null}`),
    )
    expect((await platform.run('courses list --all --columns title')).stdout).toBe('Sea\nLand\n')
    expect(platform.requests.at(-1)).toBe(`GET /v1/courses?limit=100&cursor=${id}`)
    platform.answer(json(200, course))
    await platform.run(`courses get ${id}`)
    expect(platform.requests.at(-1)).toBe(`GET /v1/courses/${id}`)
  })
})
