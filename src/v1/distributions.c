/* tf.compat.v1.distributions: what the distributions compute, as formulas (formula.h).
 *
 * A line `Kind(parameters)` is followed by the formulas of its methods. x is the value, n how many samples are drawn, s the shape
 * of so many samples and k how many members a vector has; `.mean()` is another method of the same kind, and loc_ a parameter of
 * the other distribution of a divergence. Kinds with a `vector` are distributions of vectors, whose members lie along its last
 * dimension; others spread their parameters over each other. */
#include "spec/spec.h"
#include "v1/formula.h"
#include "v1/v1.h"

#define CLASS_AND_SHAPE "h=BroadcastArgs(Shape(c),batch); "
#define TOTAL "ExpandDims(Sum(concentration,-1),-1)"
#define COUNT "ExpandDims(total_count,-1)"

static const char table[] =
    "Normal(loc,scale)\n"
    "Normal.sample_n=normal(s)*scale+loc\n"
    "Normal.log_prob=z=(x-loc)/scale; -0.5*Square(z)-(0.9189385332046727+Log(scale))\n"
    "Normal.cdf=z=(x-loc)/scale*0.7071067811865476; "
    "0.5*where(Abs(z)<0.7071067811865476,1.0+Erf(z),where(z>0.0,2.0-Erfc(z),Erfc(Abs(z))))\n"
    "Normal.survival_function=.cdf(2.0*loc-x)\n"
    "Normal.log_survival_function=Log(.survival_function(x))\n"
    "Normal.quantile=Ndtri(x)*scale+loc\n"
    "Normal.entropy=(1.4189385332046727+Log(scale))*OnesLike(loc)\n"
    "Normal.mean=loc*OnesLike(scale)\n"
    "Normal.mode=.mean()\n"
    "Normal.stddev=scale*OnesLike(loc)\n"
    "Normal.kl=r=Square(scale/scale_); Square(loc-loc_)/(2.0*Square(scale_))+0.5*(r-1.0-Log(r))\n"
    "Uniform(low,high)\n"
    "Uniform.sample_n=low+(high-low)*uniform(s)\n"
    "Uniform.prob=i=OnesLike(x)/(high-low); "
    "where(IsNan(x+low*0.0),x+ZerosLike(i),where(LogicalOr(x<low,x>=high),ZerosLike(i),i))\n"
    "Uniform.cdf=p=(x-low)/(high-low); where(x<low,ZerosLike(p),where(x>=high,OnesLike(p),p))\n"
    "Uniform.entropy=Log(high-low)\n"
    "Uniform.mean=(low+high)/2.0\n"
    "Uniform.variance=Square(high-low)/12.0\n"
    "Uniform.stddev=(high-low)/3.4641016151377544\n"
    "Gamma(concentration,rate)\n"
    "Gamma.sample_n=gamma(n,concentration,rate)\n"
    "Gamma.log_prob=Xlogy(concentration-1.0,x)-rate*x-(Lgamma(concentration)-concentration*Log(rate))\n"
    "Gamma.cdf=Igamma(concentration,rate*x)\n"
    "Gamma.entropy=concentration-Log(rate)+Lgamma(concentration)+(1.0-concentration)*Digamma(concentration)\n"
    "Gamma.mean=concentration/rate\n"
    "Gamma.variance=concentration/Square(rate)\n"
    "Gamma.stddev=Sqrt(concentration)/rate\n"
    "Gamma.mode=defined(concentration>1.0,(concentration-1.0)/rate)\n"
    "Gamma.exponential=-Log(uniform(s,tiny,1.0))/rate\n"
    "Gamma.kl=(concentration-concentration_)*Digamma(concentration)+Lgamma(concentration_)-Lgamma(concentration)+"
    "concentration_*Log(rate)-concentration_*Log(rate_)+concentration*(rate_/rate-1.0)\n"
    "Beta(concentration1,concentration0)\n"
    "Beta.total=concentration1+concentration0\n"
    "Beta.sample_n=o=OnesLike(.total()); a=gamma(n,o*concentration1); 'beta'; b=gamma(n,o*concentration0); a/(a+b)\n"
    "Beta.normalizer=Lgamma(concentration1)+Lgamma(concentration0)-Lgamma(.total())\n"
    "Beta.log_prob=Xlogy(concentration1-1.0,x)+(concentration0-1.0)*Log1p(-x)-.normalizer()\n"
    "Beta.cdf=Betainc(concentration1,concentration0,x)\n"
    "Beta.entropy=t=.total(); .normalizer()-(concentration1-1.0)*Digamma(concentration1)-"
    "(concentration0-1.0)*Digamma(concentration0)+(t-2.0)*Digamma(t)\n"
    "Beta.mean=concentration1/.total()\n"
    "Beta.variance=m=.mean(); m*(1.0-m)/(1.0+.total())\n"
    "Beta.mode=defined(LogicalAnd(concentration1>1.0,concentration0>1.0),(concentration1-1.0)/(.total()-2.0))\n"
    "Beta.kl=t=.total(); u=concentration1_+concentration0_; "
    "Lgamma(concentration1_)-Lgamma(concentration1)+(Lgamma(concentration0_)-Lgamma(concentration0))-(Lgamma(u)-Lgamma(t))-"
    "Digamma(concentration1)*(concentration1_-concentration1)-Digamma(concentration0)*(concentration0_-concentration0)+"
    "Digamma(t)*(u-t)\n"
    "Laplace(loc,scale)\n"
    "Laplace.sample_n=u=uniform(s,below,1.0); loc-scale*Sign(u)*Log1p(-Abs(u))\n"
    "Laplace.log_prob=-Abs((x-loc)/scale)-0.6931471805599453-Log(scale)\n"
    "Laplace.cdf=z=(x-loc)/scale; 0.5+0.5*Sign(z)*(1.0-Exp(-Abs(z)))\n"
    "Laplace.entropy=1.6931471805599454+Log(scale+ZerosLike(loc))\n"
    "Laplace.mean=loc+ZerosLike(scale)\n"
    "Laplace.mode=.mean()\n"
    "Laplace.stddev=1.4142135623730951*scale+ZerosLike(loc)\n"
    "StudentT(df,loc,scale)\n"
    "StudentT.spread=df*OnesLike(df*loc*scale)\n"
    "StudentT.sample_n=z=normal(s); 'student_t'; g=gamma(n,0.5*.spread(),0.5); z*Rsqrt(g/df)*scale+loc\n"
    "StudentT.log_prob=z=(x-loc)/scale; -0.5*(df+1.0)*Log1p(Square(z)/df)-"
    "(Log(Abs(scale))+0.5*Log(df)+0.5723649429247001+Lgamma(0.5*df)-Lgamma(0.5*(df+1.0)))\n"
    "StudentT.cdf=z=(x-loc)/Abs(scale); h=0.5*Betainc(0.5*df,0.5,df/(Square(z)+df)); where(z<0.0,h,1.0-h)\n"
    "StudentT.entropy=d=.spread(); h=0.5*(d+1.0); b=Lgamma(0.5*d)+0.5723649429247001-Lgamma(h); "
    "Log(Abs(scale))+0.5*Log(d)+b+h*(Digamma(h)-Digamma(0.5*d))\n"
    "StudentT.mean=d=.spread(); defined(d>1.0,loc*OnesLike(d))\n"
    "StudentT.variance=d=.spread(); "
    "defined(d>1.0,where(d>2.0,Square(scale)*d/where(d>2.0,d-2.0,OnesLike(d)),inf))\n"
    "StudentT.mode=Identity(loc)\n"
    "Bernoulli(logits,probs)\n"
    "Bernoulli.sample_n=result(uniform(s)<probs)\n"
    "Bernoulli.log_prob=e=float(x); h=BroadcastArgs(Shape(e),batch); -entropy(BroadcastTo(e,h),BroadcastTo(logits,h))\n"
    "Bernoulli.entropy=-logits*(Sigmoid(logits)-1.0)+Softplus(-logits)\n"
    "Bernoulli.mean=Identity(probs)\n"
    "Bernoulli.variance=probs*(1.0-probs)\n"
    "Bernoulli.mode=result(probs>0.5)\n"
    "Bernoulli.kl=Sigmoid(logits)*(Softplus(-logits_)-Softplus(-logits))+"
    "Sigmoid(-logits)*(Softplus(logits_)-Softplus(logits))\n"
    "Categorical(logits,probs)\n"
    "Categorical.vector=logits\n"
    "Categorical.sample_n=result(Reshape(turned(multinomial(rows(logits),x)),s))\n"
    "Categorical.log_prob=c=label(x); " CLASS_AND_SHAPE "-sparse_entropy(BroadcastTo(c,h),BroadcastTo(logits,join(h,size)))\n"
    "Categorical.cdf=c=int(x); " CLASS_AND_SHAPE
    "Sum(BroadcastTo(probs,join(h,size))*float(range(size)<ExpandDims(BroadcastTo(c,h),-1)),-1)\n"
    "Categorical.entropy=-Sum(MulNoNan(LogSoftmax(logits),probs),-1)\n"
    "Categorical.mode=result(ArgMax(logits,-1))\n"
    "Categorical.kl=Sum(Softmax(logits)*(LogSoftmax(logits)-LogSoftmax(logits_)),-1)\n"
    "Dirichlet(concentration)\n"
    "Dirichlet.vector=concentration\n"
    "Dirichlet.sample_n=g=gamma(n,concentration); g/ExpandDims(Sum(g,-1),-1)\n"
    "Dirichlet.log_prob=Sum(Xlogy(concentration-1.0,x),-1)-lbeta(concentration)\n"
    "Dirichlet.entropy=t=Sum(concentration,-1); "
    "lbeta(concentration)+(t-k)*Digamma(t)-Sum((concentration-1.0)*Digamma(concentration),-1)\n"
    "Dirichlet.mean=concentration/" TOTAL "\n"
    "Dirichlet.factor=Rsqrt(1.0+" TOTAL ")\n"
    "Dirichlet.variance=f=.factor(); v=f*.mean(); v*(f-v)\n"
    "Dirichlet.covariance=v=.factor()*.mean(); set_diag(-(ExpandDims(v,-1)*ExpandDims(v,-2)),.variance())\n"
    "Dirichlet.mode=defined(ExpandDims(All(concentration>1.0,-1),-1),(concentration-1.0)/(" TOTAL "-k))\n"
    "Dirichlet.kl=d=Digamma(concentration)-Digamma(" TOTAL
    "); Sum((concentration-concentration_)*d,-1)-lbeta(concentration)+lbeta(concentration_)\n"
    "Multinomial(total_count,logits,probs)\n"
    "Multinomial.vector=.mean()\n"
    "Multinomial.log_prob=Sum(x*LogSoftmax(logits),-1)+(Lgamma(total_count+1.0)-Sum(Lgamma(x+1.0),-1))\n"
    "Multinomial.mean=probs*" COUNT "\n"
    "Multinomial.spread=probs*OnesLike(" COUNT ")\n"
    "Multinomial.variance=m=.mean(); m-m*.spread()\n"
    "Multinomial.covariance=set_diag(-(ExpandDims(.mean(),-1)*ExpandDims(.spread(),-2)),.variance())\n"
    "DirichletMultinomial(total_count,concentration)\n"
    "DirichletMultinomial.vector=.mean()\n"
    "DirichletMultinomial.sample_n=g=Log(gamma(n,concentration*OnesLike(.mean()))); 'dirichlet_multinomial'; "
    "c=multinomial(rows(g),int(total_count)); Reshape(Sum(one_hot(c,size),-2),join(s,size))\n"
    "DirichletMultinomial.log_prob=lbeta(concentration+x)-lbeta(concentration)+"
    "(Lgamma(total_count+1.0)-Sum(Lgamma(x+1.0),-1))\n"
    "DirichletMultinomial.mean=" COUNT "*(concentration/" TOTAL ")\n"
    "DirichletMultinomial.factor=Sqrt((1.0+" TOTAL "/" COUNT ")/(1.0+" TOTAL "))\n"
    "DirichletMultinomial.variance=f=.factor(); v=f*.mean(); v*(" COUNT "*f-v)\n"
    "DirichletMultinomial.covariance=v=.factor()*.mean(); set_diag(-(ExpandDims(v,-1)*ExpandDims(v,-2)),.variance())\n";

/* The names of a kind's parameters, behind `Kind(`; NULL if there is no such kind. */
static const char *names_of(const char *kind)
{
    size_t size = strlen(kind);
    for (const char *line = table; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, kind, size) == 0 && line[size] == '(')
            return line + size + 1;
    }
    return NULL;
}

TW_API(v1_distributions_formulas, "compat.v1.distributions._formulas() -> str",
       "The kinds of distributions, with their parameters and the formulas of their methods, one to a line.")
{
    return tw__strdup(table);
}

TW_API(v1_distributions_compute,
       "compat.v1.distributions._compute(kind: str, method: str, parameters: tensors, x: tensor = None, dtype: dtype = None, "
       "seed: int = None, nan: bool = True) -> tensor",
       "What a distribution's method gives: log_prob, cdf, mean, entropy, sample_n and others.\n"
       "kind: the distribution: Normal, Gamma, …\n"
       "method: its method; kl is the divergence from it to another one of the same kind\n"
       "parameters: its parameters in their order; for kl also those of the other one\n"
       "x: the value; for sample_n how many samples are drawn\n"
       "dtype: that of samples that are whole numbers; None: that of the parameters\n"
       "nan: whether a statistic that is not defined is NaN; else it is an error\n"
       "raises: NotImplementedError: the kind has no such method")
{
    const char *names = names_of(args->kind);
    if (!names || !tw__formula_find(table, args->kind, args->method)) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "%s is not implemented: %s", args->method, args->kind);
        return NULL;
    }
    tw__part part = tw__part_plain();
    TW_TEMPS(t);
    tw__formulas f = { .table = table,
                       .kind = args->kind,
                       .names = names,
                       .parameters = args->parameters.items,
                       .own = 1,
                       .count = args->parameters.count,
                       .seed = args->seed,
                       .nan = args->nan,
                       .t = t };
    for (const char *c = names; *c != ')'; c++)
        f.own += *c == ',';
    if (f.count < f.own) {
        tw__fail(TW_VALUE_ERROR, "%s has %d parameters, got %d", args->kind, f.own, f.count);
        return NULL;
    }
    f.dtype = args->dtype == TW_DTYPE_NONE ? f.parameters[0]->dtype : args->dtype;
    return tw__part_result(&part, tw_retain(tw__formula_value(&f, args->method, args->x)));
}
