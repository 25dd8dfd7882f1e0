import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { ran } from '../../helpers/result.ts'

describe('learnctl api', () => {
  test('sends typed and nested fields', async ({ local }) => {
    writeFileSync(join(local.cwd, 'text.md'), '# Title\n')
    writeFileSync(join(local.cwd, 'weights.json'), '[{"name": "exam", "weight": 60}]')
    const fields = [
      ...['title=Go', 'durationMinutes=90', 'progressTracking.enabled=false', 'language=null'],
      ...['tags[]=a', 'tags[]="1"'],
      ...['description=@text.md', 'assessmentCriteria.weights=@weights.json'],
    ]
    const words = fields.flatMap((field) => ['--field', field])
    const { code, stdout } = await local.run(['api', 'POST', '/v1/courses', ...words])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      title: 'Go',
      durationMinutes: 90,
      progressTracking: { enabled: false },
      language: null,
      tags: ['a', '1'],
      description: '# Title\n',
      assessmentCriteria: { weights: [{ name: 'exam', weight: 60 }] },
    })
  })

  test('takes an operation by name, with its path parameters', async ({ local }) => {
    await local.run('courses create --title Go --external-id a/b')
    const { stdout } = await local.run('api courses.get ext:a/b')
    expect(JSON.parse(stdout)).toMatchObject({ externalId: 'a/b' })
    expect((await ran(local, 'api courses.get', 2)).stderr).toContain('<courseId>')
    expect(await local.run('api courses.list x')).toMatchObject({ code: 2 })
  })

  test('sends query parameters, and prints errors like any command', async ({ local }) => {
    await local.run('courses create --title Go')
    const published = await local.run('api GET /v1/courses --query status=published --query limit=5')
    expect(JSON.parse(published.stdout)).toEqual({ data: [], nextCursor: null })
    const refused = await local.run('api get /v1/courses --query limit=101 -o json')
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'invalid_parameter', status: 400 } })
  })

  test('follows a list to its end', async ({ local }) => {
    for (const title of ['A', 'B', 'C']) await local.run(`courses create --title ${title}`)
    const all = await local.run('api courses.list --query limit=1 --query sort=title --all')
    expect(JSON.parse(all.stdout)).toMatchObject([{ title: 'A' }, { title: 'B' }, { title: 'C' }])
    const titles = await local.run(
      'api courses.list --query limit=2 --query sort=title --all --columns title -o csv',
    )
    expect(titles.stdout).toBe('title\r\nA\r\nB\r\nC\r\n')
  })

  test('shows the columns that are asked for of one thing, too', async ({ local }) => {
    await local.run('courses create --title Sea --external-id sea')
    const { stdout } = await local.run('api GET /v1/courses/ext:sea --columns title,status -o json')
    expect(JSON.parse(stdout)).toEqual({ title: 'Sea', status: 'draft' })
  })

  test('passes other answers on as they are', async ({ local }) => {
    const { stdout } = await local.run('api GET /v1/analytics/learners --query format=csv')
    expect(stdout).toMatch(/^learnerId,email,.*\r\n$/)
  })

  test('shows the request instead under --dry-run, secrets masked', async ({ remote }) => {
    const env = { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: 'top-secret' }
    const line =
      'api POST /v1/users --field email=a@b.example --field password=hunter2hunter2 --header x-api-token:abc'
    const { stdout } = await remote.run(line, { env: { ...env, LEARNCTL_DRY_RUN: '1' } })
    expect(stdout).toContain('"password": "***"')
    expect(stdout).toContain('authorization: Bearer ***')
    expect(stdout).toContain('x-api-token: ***')
    expect(stdout).not.toMatch(/top-secret|hunter2|abc/)
  })

  test('says how many items of a batch failed, after what became of each', async ({ local }) => {
    const items = [{ email: 'ada@example.org' }, { email: 'nobody' }, {}]
    const stdin = JSON.stringify({ items })
    const { code, stdout, stderr } = await local.run('api users.batch --body -', { stdin })
    expect({ code, stderr }).toEqual({ code: 8, stderr: 'error: 2 of 3 items failed\n' })
    expect(JSON.parse(stdout).results).toMatchObject([{ status: 201 }, { status: 422 }, { status: 422 }])
    const again = { stdin: JSON.stringify({ items: [items[0]], onExists: 'skip' }) }
    expect(await local.run('api POST /v1/users/batch --body -', again)).toMatchObject({ code: 0, stderr: '' })
  })

  test('needs no credential where the operation asks for none', async ({ remote }) => {
    const env = { LEARNCTL_URL: 'https://school.example' }
    expect(await remote.run('api GET /health', { env })).toMatchObject({ code: 0 })
    expect(await remote.run('api GET /v1/courses', { env })).toMatchObject({ code: 4 })
  })

  test.for([
    ['api'],
    ['api GET'],
    ['api GET courses'],
    ['api GET /v1/courses extra'],
    ['api GET /v1/courses --field a=b'],
    ['api POST /v1/courses --field title'],
    ['api POST /v1/courses --query limit'],
    ['api POST /v1/courses --all'],
  ])('%s is refused', async ([line = ''], { local }) => {
    expect(await local.run(line)).toMatchObject({ code: 2, stdout: '' })
  })
})
