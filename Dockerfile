# graphghha with the operator's page.
#   docker build -t graphghha .
#   docker run --rm -p 8420:8420 -v graphghha-state:/var/lib/graphghha -v "$PWD/site.toml:/etc/graphghha/site.toml:ro" graphghha
# In a container the page has to listen on 0.0.0.0, so site.toml needs certificates or behind_proxy = true, and people:
#   docker run .. graphghha user add /etc/graphghha/site.toml m.ortiz --role operator
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY page page
COPY src src
# the page is built here; Node.js comes as a wheel
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY constraints.txt /tmp/constraints.txt
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt \
        "graphghha[torch,data,monitor,serve] @ file:///wheels/$(ls /wheels)" \
    && rm -r /wheels /tmp/constraints.txt \
    && useradd --system --create-home graphghha \
    && install -d -o graphghha -m 0700 /var/lib/graphghha
USER graphghha
WORKDIR /var/lib/graphghha
EXPOSE 8420
ENTRYPOINT ["graphghha"]
CMD ["serve", "/etc/graphghha/site.toml"]
