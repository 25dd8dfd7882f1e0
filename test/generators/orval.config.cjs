module.exports = {
  academy: {
    input: './generated/openapi.json',
    output: {
      target: './generated/orval/index.ts',
      client: 'fetch',
      // The generated functions have it in their text.
      baseUrl: process.env['ACADEMY_URL'],
    },
  },
}
