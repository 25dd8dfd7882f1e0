import { expect } from 'vitest'
import { expressPlatform } from '../helpers/foreign-platforms/express.ts'
import { gatewayPlatform } from '../helpers/foreign-platforms/gateway.ts'
import { railsPlatform } from '../helpers/foreign-platforms/rails.ts'
import { test } from '../helpers/foreign-platforms/run.ts'

/** Platforms in different styles, written from the published interface alone. */
const platforms = {
  express: () => expressPlatform(),
  rails: () => railsPlatform(),
  gateway: () => gatewayPlatform(),
}

test.for(Object.entries(platforms))('%s lists its courses', async ([, make], { run }) => {
  const platform = make()
  expect(await run(platform, 'courses list --columns title')).toEqual({
    code: 0,
    stdout: 'Marine Biology\nAlgebra\nGo for Beginners\n',
    stderr: '',
  })
  expect(platform.requests.map(({ line }) => line)).toEqual(['GET /v1/courses'])
})

test.for(Object.entries(platforms))('%s keeps what it is sent', async ([, make], { run }) => {
  const platform = make()
  const { course, lesson, user, progress } = platform.store
  const [first = {}] = course
  await run(platform, 'courses create --title Sea -o json')
  await run(platform, `courses update ${first['id']} --title Oceans -o json`)
  await run(platform, `lessons create --course ${first['id']} --title Tides -o json`)
  await run(platform, 'users create --email learner3@school.example -o json')
  await run(platform, `progress set ${user[1]?.['id']} --course ${first['id']} --completion 60 -o json`)
  expect({ course, lesson, user, progress }).toMatchObject({
    course: [{ title: 'Oceans', version: 2 }, {}, {}, { title: 'Sea' }],
    lesson: [{ title: 'Tides' }],
    user: [{}, {}, {}, { email: 'learner3@school.example' }],
    progress: [{ completionPercentage: 60 }, {}, {}],
  })
})
